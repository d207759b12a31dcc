module nuthatch/tests/drivers

go 1.19

// The usual driver for database/sql; 1.7.1 is the last version that needs no Go newer than Debian 12's and no other module.
require github.com/go-sql-driver/mysql v1.7.1
