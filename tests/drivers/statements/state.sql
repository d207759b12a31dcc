SET @a = 5, @b = 'é'
SELECT @a, @b, @c
SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'
SELECT "v", 'a\nb' FROM a
SELECT @@sql_mode
SET SESSION time_zone = '+05:00'
SELECT FROM_UNIXTIME(0), @@time_zone
SET timestamp = 1000000000
SELECT NOW()
SET timestamp = DEFAULT
SET SESSION group_concat_max_len = 4
SELECT GROUP_CONCAT(v) FROM a
SET lc_time_names = 'de_DE'
SELECT DAYNAME('2024-01-01')
SET div_precision_increment = 10
SELECT 1/3
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
SELECT @@tx_isolation
CREATE TEMPORARY TABLE tmp (n INT)
INSERT INTO tmp VALUES (1)
SELECT * FROM tmp
CREATE TEMPORARY TABLE a (n INT)
SELECT * FROM a
DROP TEMPORARY TABLE a
SELECT COUNT(*) FROM a
LOCK TABLES a WRITE
SELECT COUNT(*) FROM a
SELECT COUNT(*) FROM b
UNLOCK TABLES
SELECT GET_LOCK('nuthatch', 1), IS_FREE_LOCK('nuthatch')
SELECT RELEASE_LOCK('nuthatch'), RELEASE_LOCK('nuthatch')
PREPARE s FROM 'SELECT ? + 1'
SET @p = 41
EXECUTE s USING @p
DEALLOCATE PREPARE s
EXECUTE s USING @p
HANDLER a OPEN
HANDLER a READ FIRST
HANDLER a CLOSE
SET sql_select_limit = 1
SELECT 1 UNION SELECT 2
SET sql_select_limit = DEFAULT
SELECT @n := 1
SELECT @n := @n + 1
SET autocommit = 0, sql_safe_updates = 1
DELETE FROM a
SELECT @@autocommit, @@sql_safe_updates
SET STATEMENT max_statement_time = 1 FOR SELECT 1
SELECT @@max_statement_time
SET NAMES latin1
SELECT @@character_set_results
SET sql_mode = DEFAULT
SELECT @@sql_mode = @@global.sql_mode
USE information_schema
SELECT DATABASE()
USE t
SELECT DATABASE()
