//! What drivers, frameworks and tools send, as their sources and the logs of servers show it.

use super::{MARIADB, MYSQL, check_all};

#[test]
fn statements_of_drivers_are_understood() {
    check_all(MYSQL, CONNECTORS);
    check_all(MARIADB, CONNECTORS_OF_MARIADB);
    check_all(MYSQL, FRAMEWORKS);
    let both = [MARIADB, MYSQL].map(|lexing| check_all(lexing, DUMPS));
    check_all(MYSQL, TOOLS);
    assert_eq!(both[0], both[1]);
}

/// Connector/J, mysql2, PyMySQL, mysqlclient, go-sql-driver, Connector/ODBC, Connector/NET, PHP.
const CONNECTORS: &str = "
    SET NAMES utf8mb4 => names utf8mb4
    SET NAMES latin1 => names latin1
    SET character_set_results = NULL => character_set_results=w:NULL
    SET character_set_results = utf8mb4 => character_set_results=w:utf8mb4
    SET collation_connection = utf8mb4_0900_ai_ci => collation_connection=w:utf8mb4_0900_ai_ci
    SET autocommit=1 => autocommit=1
    SET autocommit=0 => autocommit=0
    SET sql_mode='STRICT_TRANS_TABLES' => sql_mode='STRICT_TRANS_TABLES'
    SET sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION' => sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'
    SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED => transaction_isolation='READ-COMMITTED'
    SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED => transaction_isolation='READ-UNCOMMITTED'
    SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ => transaction_isolation='REPEATABLE-READ'
    SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE => transaction_isolation='SERIALIZABLE'
    set session transaction read only => transaction_read_only=1
    set session transaction read write => transaction_read_only=0
    SET SQL_SELECT_LIMIT=DEFAULT => sql_select_limit=DEFAULT
    SET SQL_SELECT_LIMIT=10 => sql_select_limit=10
    SET net_write_timeout=600 => net_write_timeout=600
    SET net_write_timeout=60 => net_write_timeout=60
    SET SESSION sql_mode='ANSI',SESSION time_zone='+00:00' => sql_mode='ANSI'; time_zone='+00:00'
    SET SESSION max_execution_time=1000,@app='shop' => max_execution_time=1000; @app='shop'
    /* mysql-connector-j-9.1.0 (Revision: abc) */SET NAMES utf8mb4 => names utf8mb4
    SET AUTOCOMMIT = 0 => autocommit=0
    SET AUTOCOMMIT = 1 => autocommit=1
    SET NAMES utf8mb4 COLLATE utf8mb4_general_ci => names utf8mb4/utf8mb4_general_ci
    SET sql_mode='STRICT_ALL_TABLES' => sql_mode='STRICT_ALL_TABLES'
    SET maxAllowedPacket=1 => maxallowedpacket=1
    SET time_zone='Europe/Paris' => time_zone='Europe/Paris'
    SET time_zone='+00:00',sql_mode='ANSI' => time_zone='+00:00'; sql_mode='ANSI'
    SET tx_isolation='READ-COMMITTED',foreign_key_checks=0 => transaction_isolation='READ-COMMITTED'; foreign_key_checks=0
    SET SESSION TRANSACTION READ ONLY => transaction_read_only=1
    SET TRANSACTION ISOLATION LEVEL SERIALIZABLE => next transaction_isolation='SERIALIZABLE'
    SET SQL_AUTO_IS_NULL = 0 => sql_auto_is_null=0
    SET SQL_AUTO_IS_NULL=0; => sql_auto_is_null=0
    SET @@sql_select_limit=DEFAULT => sql_select_limit=DEFAULT
    set @@sql_select_limit=18446744073709551615 => sql_select_limit=18446744073709551615
    SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; => transaction_isolation='READ-COMMITTED'
    SET NAMES 'utf8mb4' => names utf8mb4
    SET CHARACTER SET utf8mb4 => charset utf8mb4
    SET character_set_client = utf8mb4, character_set_connection = utf8mb4 => character_set_client=w:utf8mb4; character_set_connection=w:utf8mb4
    SET session wait_timeout=28800 => wait_timeout=28800
    SET GLOBAL max_connections = 500 => Global max_connections=500
    SET SESSION autocommit=0 => autocommit=0
    SET @@autocommit=1 => autocommit=1
";

/// MariaDB's Connector/J, Connector/ODBC and Connector/C++.
const CONNECTORS_OF_MARIADB: &str = "
    set autocommit=1, session_track_schema=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES') => autocommit=1; session_track_schema=1; sql_mode=<concat(@@sql_mode,',STRICT_TRANS_TABLES')>
    set autocommit=1, session_track_schema=1, session_track_system_variables='auto_increment_increment' , sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES') => autocommit=1; session_track_schema=1; session_track_system_variables='auto_increment_increment'; sql_mode=<concat(@@sql_mode,',STRICT_TRANS_TABLES')>
    set autocommit=1,names UTF8MB4 => autocommit=1; names utf8mb4
    SET session_track_schema=1,session_track_system_variables='auto_increment_increment,tx_isolation' => session_track_schema=1; session_track_system_variables='auto_increment_increment,tx_isolation'
    SET STATEMENT SQL_SELECT_LIMIT=10 FOR SELECT * FROM t => sql_select_limit=10 for SELECT * FROM t
    SET STATEMENT max_statement_time=1.5 FOR SELECT SLEEP(2) => max_statement_time=1.5 for SELECT SLEEP(2)
    SET STATEMENT max_statement_time=1, sort_buffer_size=(SELECT 5) FOR UPDATE t SET a=1 WHERE b=2; => max_statement_time=1; sort_buffer_size=<(SELECT 5)> for UPDATE t SET a=1 WHERE b=2;
    set max_statement_time=0 => max_statement_time=0
    SET SESSION TRANSACTION READ WRITE => transaction_read_only=0
    SET tx_isolation='SERIALIZABLE' => transaction_isolation='SERIALIZABLE'
";

/// Django, Rails, Laravel, WordPress, Drupal, Magento, Doctrine, SQLAlchemy, Hibernate, Sequelize, TypeORM, Prisma.
const FRAMEWORKS: &str = "
    SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED => transaction_isolation='READ-COMMITTED'
    SET SQL_AUTO_IS_NULL = 0; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED => -
    SET foreign_key_checks=0 => foreign_key_checks=0
    SET FOREIGN_KEY_CHECKS = 0; => foreign_key_checks=0
    SET foreign_key_checks=1 => foreign_key_checks=1
    SET NAMES utf8mb4,  @@SESSION.sql_mode = CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ',NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483 => names utf8mb4; sql_mode=<CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ',NO_AUTO_VALUE_ON_ZERO')>; sql_auto_is_null=0; wait_timeout=2147483
    SET  @@SESSION.sql_mode = CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ',NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483 => sql_mode=<CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ',NO_AUTO_VALUE_ON_ZERO')>; sql_auto_is_null=0; wait_timeout=2147483
    SET NAMES utf8 COLLATE utf8_general_ci,  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483, @@SESSION.sql_mode = 'STRICT_ALL_TABLES' => names utf8/utf8_general_ci; sql_auto_is_null=0; wait_timeout=2147483; sql_mode='STRICT_ALL_TABLES'
    SET NAMES utf8, @@SESSION.sql_mode = CONCAT(CONCAT(REPLACE(REPLACE(REPLACE(@@sql_mode, 'STRICT_TRANS_TABLES', ''), 'STRICT_ALL_TABLES', ''), 'TRADITIONAL', ''), ',NO_AUTO_VALUE_ON_ZERO'), ',NO_ENGINE_SUBSTITUTION'), @@SESSION.wait_timeout = 3600 => names utf8; sql_mode=<CONCAT(CONCAT(REPLACE(REPLACE(REPLACE(@@sql_mode, 'STRICT_TRANS_TABLES', ''), 'STRICT_ALL_TABLES', ''), 'TRADITIONAL', ''), ',NO_AUTO_VALUE_ON_ZERO'), ',NO_ENGINE_SUBSTITUTION')>; wait_timeout=3600
    SET @@SESSION.sql_mode = DEFAULT => sql_mode=DEFAULT
    set names 'utf8mb4' collate 'utf8mb4_unicode_ci' => names utf8mb4/utf8mb4_unicode_ci
    set time_zone=\"+00:00\" => time_zone='+00:00'
    set session sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' => sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'
    set session sql_mode='NO_ENGINE_SUBSTITUTION' => sql_mode='NO_ENGINE_SUBSTITUTION'
    SET FOREIGN_KEY_CHECKS=1; => foreign_key_checks=1
    use `app`;set names 'utf8mb4' => -
    SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_520_ci' => names utf8mb4/utf8mb4_unicode_520_ci
    SET SESSION sql_mode='NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO' => sql_mode='NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO'
    SET SESSION sql_mode = 'ANSI,TRADITIONAL' => sql_mode='ANSI,TRADITIONAL'
    SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci, SESSION sql_mode = 'ANSI,TRADITIONAL' => names utf8mb4/utf8mb4_unicode_ci; sql_mode='ANSI,TRADITIONAL'
    SET SQL_MODE='' => sql_mode=''
    SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 => @old_foreign_key_checks=@@foreign_key_checks; foreign_key_checks=0
    SET FOREIGN_KEY_CHECKS=IF(@OLD_FOREIGN_KEY_CHECKS=0, 0, 1) => foreign_key_checks=<IF(@OLD_FOREIGN_KEY_CHECKS=0, 0, 1)>
    SET SQL_MODE=IFNULL(@OLD_SQL_MODE,'') => sql_mode=<IFNULL(@OLD_SQL_MODE,'')>
    SET SESSION innodb_lock_wait_timeout = 5 => innodb_lock_wait_timeout=5
    SET SESSION group_concat_max_len = 1000000 => group_concat_max_len=1000000
    SET group_concat_max_len=@@max_allowed_packet => group_concat_max_len=@@max_allowed_packet
    SET SESSION optimizer_switch='index_merge_intersection=off' => optimizer_switch='index_merge_intersection=off'
    SET optimizer_switch = 'default,mrr=on' => optimizer_switch='default,mrr=on'
    SET SESSION join_buffer_size = 1024 * 1024 * 4 => join_buffer_size=same<1024 * 1024 * 4>
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY => next transaction_isolation='REPEATABLE-READ'; next transaction_read_only=1
    SET TRANSACTION READ WRITE => next transaction_read_only=0
    SET SESSION TRANSACTION READ WRITE, ISOLATION LEVEL READ COMMITTED => transaction_read_only=0; transaction_isolation='READ-COMMITTED'
    SET autocommit = 1; => autocommit=1
    set session characteristics as transaction read only => -
    SET @rownum := 0 => @rownum=0
    SET @rank = 0, @prev = NULL => @rank=0; @prev=w:NULL
    SET @id = LAST_INSERT_ID() => @id=<LAST_INSERT_ID()>
    SET @now = NOW() => @now=<NOW()>
    SET @uuid = UUID() => @uuid=<UUID()>
    SET @current_user_id = 42 => @current_user_id=42
    SET @total = (SELECT COUNT(*) FROM t WHERE a = 1) => @total=<(SELECT COUNT(*) FROM t WHERE a = 1)>
    SET lc_time_names = 'de_DE' => lc_time_names='de_DE'
    SET SESSION time_zone = 'SYSTEM' => time_zone='SYSTEM'
    SET sql_safe_updates=1, sql_select_limit=1000, max_join_size=1000000 => sql_safe_updates=1; sql_select_limit=1000; max_join_size=1000000
    SET @@SESSION.transaction_isolation = 'READ-COMMITTED' => transaction_isolation='READ-COMMITTED'
    SET SESSION tx_read_only = 1 => transaction_read_only=1
    SET SESSION MAX_EXECUTION_TIME=5000 => max_execution_time=5000
    SET SESSION cte_max_recursion_depth = 10000 => cte_max_recursion_depth=10000
    SET SESSION sql_require_primary_key = OFF => sql_require_primary_key=w:OFF
    SET SESSION default_storage_engine = InnoDB => default_storage_engine=w:InnoDB
    SET storage_engine=MYISAM => default_storage_engine=w:MYISAM
";

/// mysqldump, mydumper, phpMyAdmin's and Workbench's exports: alike on all servers.
const DUMPS: &str = "
    /*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */ => @old_character_set_client=@@character_set_client
    /*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */; => @old_character_set_client=@@character_set_client
    /*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */ => @old_character_set_results=@@character_set_results
    /*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */ => @old_collation_connection=@@collation_connection
    /*!40101 SET NAMES utf8mb4 */ => names utf8mb4
    /*!50503 SET NAMES utf8mb4 */ => names utf8mb4
    /*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */ => @old_time_zone=@@time_zone
    /*!40103 SET TIME_ZONE='+00:00' */ => time_zone='+00:00'
    /*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */ => @old_unique_checks=@@unique_checks; unique_checks=0
    /*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */ => @old_foreign_key_checks=@@foreign_key_checks; foreign_key_checks=0
    /*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */ => @old_sql_mode=@@sql_mode; sql_mode='NO_AUTO_VALUE_ON_ZERO'
    /*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */ => @old_sql_notes=@@sql_notes; sql_notes=0
    SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' => @old_sql_mode=@@sql_mode; sql_mode='NO_AUTO_VALUE_ON_ZERO'
    /*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */ => time_zone=@old_time_zone
    /*!40101 SET SQL_MODE=@OLD_SQL_MODE */ => sql_mode=@old_sql_mode
    /*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */ => foreign_key_checks=@old_foreign_key_checks
    /*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */ => unique_checks=@old_unique_checks
    /*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */ => character_set_client=@old_character_set_client
    /*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */ => character_set_results=@old_character_set_results
    /*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */ => collation_connection=@old_collation_connection
    /*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */ => sql_notes=@old_sql_notes
    /*!40101 SET @saved_cs_client     = @@character_set_client */ => @saved_cs_client=@@character_set_client
    /*!50503 SET character_set_client = utf8mb4 */ => character_set_client=w:utf8mb4
    /*!40101 SET character_set_client = @saved_cs_client */ => character_set_client=@saved_cs_client
    /*!50003 SET @saved_sql_mode       = @@sql_mode */ => @saved_sql_mode=@@sql_mode
    /*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION' */ => sql_mode='STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'
    /*!50003 SET sql_mode              = @saved_sql_mode */ => sql_mode=@saved_sql_mode
    /*!50003 SET character_set_results = utf8mb4 */ => character_set_results=w:utf8mb4
    /*!50003 SET collation_connection  = utf8mb4_0900_ai_ci */ => collation_connection=w:utf8mb4_0900_ai_ci
    SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN => @mysqldump_temp_log_bin=@@session.sql_log_bin
    SET @@SESSION.SQL_LOG_BIN= 0 => sql_log_bin=0
    SET @@SESSION.SQL_LOG_BIN = @MYSQLDUMP_TEMP_LOG_BIN => sql_log_bin=@mysqldump_temp_log_bin
    SET @@GLOBAL.GTID_PURGED='3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5' => Global gtid_purged='3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5'
    /*!40100 SET @@SQL_MODE='' */ => sql_mode=''
    /*!40101 SET @@SQL_MODE := CONCAT(@@SQL_MODE, ',NO_AUTO_VALUE_ON_ZERO') */ => sql_mode=<CONCAT(@@SQL_MODE, ',NO_AUTO_VALUE_ON_ZERO')>
    SET SQL_MODE = \"NO_AUTO_VALUE_ON_ZERO\"; => sql_mode='NO_AUTO_VALUE_ON_ZERO'
    SET time_zone = \"+00:00\"; => time_zone='+00:00'
    SET AUTOCOMMIT = 0; => autocommit=0
    /*!40101 SET @OLD_SQL_MODE=@@SQL_MODE */; => @old_sql_mode=@@sql_mode
    SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0; => @old_unique_checks=@@unique_checks; unique_checks=0
    SET SQL_MODE=@OLD_SQL_MODE; => sql_mode=@old_sql_mode
    SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400 => net_read_timeout=86400; net_write_timeout=86400
    SET SQL_QUOTE_SHOW_CREATE=1 => sql_quote_show_create=1
    SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ => transaction_isolation='REPEATABLE-READ'
";

/// Percona Toolkit, mysqlbinlog, phpMyAdmin, the command-line clients.
const TOOLS: &str = "
    SET SESSION innodb_lock_wait_timeout=1 => innodb_lock_wait_timeout=1
    SET SESSION lock_wait_timeout=60 => lock_wait_timeout=60
    SET SESSION wait_timeout=10000 => wait_timeout=10000
    SET @@SQL_QUOTE_SHOW_CREATE = 1/*!40101, @@SQL_MODE='NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'*/ => sql_quote_show_create=1; sql_mode='NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'
    /*!50108 SET @@binlog_format := 'STATEMENT'*/ => binlog_format='STATEMENT'
    SET SQL_LOG_BIN=0 => sql_log_bin=0
    SET TIMESTAMP=1700000000 => timestamp=1700000000
    SET TIMESTAMP=1700000000.123456 => timestamp=1700000000.123456
    SET INSERT_ID=5 => insert_id=5
    SET LAST_INSERT_ID=5 => last_insert_id=5
    SET @@RAND_SEED1=5, @@RAND_SEED2=7 => rand_seed1=5; rand_seed2=7
    SET @@session.pseudo_thread_id=999999999 => pseudo_thread_id=999999999
    SET @@session.foreign_key_checks=1, @@session.sql_auto_is_null=0, @@session.unique_checks=1, @@session.autocommit=1 => foreign_key_checks=1; sql_auto_is_null=0; unique_checks=1; autocommit=1
    SET @@session.sql_mode=1436549152 => sql_mode=1436549152
    SET @@session.character_set_client=45,@@session.collation_connection=45,@@session.collation_server=255 => character_set_client=45; collation_connection=45; collation_server=255
    SET @@session.lc_time_names=0 => lc_time_names=0
    SET @@session.collation_database=DEFAULT => collation_database=DEFAULT
    SET @@SESSION.GTID_NEXT= 'AUTOMATIC' => gtid_next='AUTOMATIC'
    SET @@SESSION.GTID_NEXT= '3e11fa47-71ca-11e1-9e33-c80aa9429562:5' => gtid_next='3e11fa47-71ca-11e1-9e33-c80aa9429562:5'
    /*!80011 SET @@session.default_collation_for_utf8mb4=255*/ => default_collation_for_utf8mb4=255
    /*!80013 SET @@session.sql_require_primary_key=0*/ => sql_require_primary_key=0
    SET SESSION lc_messages = 'en_US'; => lc_messages='en_US'
    SET collation_connection = 'utf8mb4_unicode_ci'; => collation_connection='utf8mb4_unicode_ci'
    SET CHARACTER SET 'utf8mb4'; => charset utf8mb4
    SET sql_safe_updates=1 => sql_safe_updates=1
    SET PROFILING=1 => profiling=1
    SET optimizer_trace='enabled=on',END_MARKERS_IN_JSON=on => optimizer_trace='enabled=on'; end_markers_in_json=w:on
    SET SESSION debug = '+d,x' => debug='+d,x'
    SET SQL_BIG_SELECTS=1 => sql_big_selects=1
    SET max_error_count=65535, SQL_WARNINGS=1 => max_error_count=65535; sql_warnings=1
    SET PASSWORD = 'x' => Account
    SET PASSWORD FOR 'bob'@'localhost' = PASSWORD('x') => Account
    SET DEFAULT ROLE ALL TO bob => Account
    SET ROLE NONE => role None
    SET ROLE app_reader => role app_reader
    SET ROLE 'a'@'%', b => role 'a'@'%', b
    SET ROLE ALL EXCEPT a => role ALL EXCEPT a
    SET ROLE DEFAULT => role Default
    SET ROLE ALL; => role All
    SET RESOURCE GROUP batch => ResourceGroup
    SET RESOURCE GROUP batch FOR 4, 5 => ResourceGroup
    SET SESSION AUTHORIZATION 'bob'@'%' => SessionAuthorization
    SET PERSIST max_connections = 100 => Persist max_connections=100
    SET @@PERSIST_ONLY.back_log = 100 => PersistOnly back_log=100
";
