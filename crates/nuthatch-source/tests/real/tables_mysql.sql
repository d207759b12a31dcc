
CREATE TABLE documents (id INT PRIMARY KEY, d JSON, n VARCHAR(20) AS (JSON_UNQUOTE(JSON_EXTRACT(d, '$.a'))) VIRTUAL);
SET sql_generate_invisible_primary_key = ON;
CREATE TABLE invisible_key (a INT);
SET sql_generate_invisible_primary_key = OFF;
CREATE TABLE doubly_expressed (id INT PRIMARY KEY, a INT, UNIQUE KEY ((a + 1)));
CREATE TABLE quotes (id INT PRIMARY KEY);
CREATE TRIGGER quotes_1 AFTER INSERT ON quotes FOR EACH ROW INSERT INTO log (m) SELECT 'it''s' FROM logged WHERE 'x''y' = '';
CREATE TABLE computed_key (a INT, id INT AS (a + 1) STORED PRIMARY KEY);
