//! Real MariaDB and MySQL servers on this host: create, replicate, remove.
