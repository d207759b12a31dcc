<?php
// The scenario for PHP, whose two interfaces share mysqlnd: scenario.php mysqli|pdo.
declare(strict_types=1);
require __DIR__ . '/steps.php';
ini_set('memory_limit', '1G');
ini_set('serialize_precision', '17');
error_reporting(E_ALL & ~E_WARNING & ~E_DEPRECATED);
set_time_limit(0);
require __DIR__ . ($argv[1] === 'pdo' ? '/with_pdo.php' : '/with_mysqli.php');

values();
bigPackets();
severalResults();
preparedStatements();
transactions();
counts();
refusals();
streams();
sessions();
transports();

function table(string $name, string $columns, string $rows = ''): void
{
    $statements = ["DROP TABLE IF EXISTS $name", "CREATE TABLE $name ($columns) ENGINE=InnoDB"];
    if ($rows !== '') {
        $statements[] = "INSERT INTO $name VALUES $rows";
    }
    once($statements);
}

// On a connection of its own.
function once(array $statements, array $settings = []): array
{
    return ask(open($settings), $statements);
}

function values(): void
{
    foreach (lines('types.tsv') as $line) {
        [$kind, $low, $high] = explode("\t", $line);
        table('v', "n INT, a $kind", "(1, $low), (2, $high), (3, NULL)");
        step("text $kind", fn () => once(['SELECT a, a IS NULL AS n FROM v ORDER BY v.n']));
        step("binary $kind", fn () => prepared(open(), 'SELECT a, a IS NULL AS n FROM v WHERE v.n > ? ORDER BY v.n', [0]));
    }
    step('NULLs', fn () => once(["SELECT NULL, 1, NULL, '', NULL", 'SELECT NULL FROM DUAL WHERE 0']));
    step('1001 columns', fn () => once(["SELECT 'x'" . str_repeat(', NULL', 1000)]));
    table('c', 'u VARCHAR(20) CHARACTER SET utf8mb4, l VARCHAR(20) CHARACTER SET latin1', "(_utf8mb4 X'C3A9F09D849E', _latin1 X'E9')");
    $questions = ["SELECT HEX(u), HEX(l), u = 'x' FROM c", 'SELECT @@character_set_client, @@character_set_results', 'SELECT l FROM c'];
    foreach (['utf8mb4', 'latin1'] as $charset) {
        step("character set $charset", fn () => array_map(fn ($one) => bin2hex(json_encode($one) ?: serialize($one)), once($questions, ['charset' => $charset])));
    }
}

function severalResults(): void
{
    once(['DROP PROCEDURE IF EXISTS two',
        "CREATE PROCEDURE two(IN a INT) BEGIN SELECT a, 'one'; SELECT NULL AS x UNION SELECT a + 1; DO 1; END",
        'DROP PROCEDURE IF EXISTS fails', "CREATE PROCEDURE fails() BEGIN SELECT 'before'; SELECT * FROM missing; SELECT 'after'; END"]);
    table('s', 'n INT AUTO_INCREMENT PRIMARY KEY, a INT');
    step('CALL with two results', fn () => several(open(), 'CALL two(7)'));
    step('CALL, prepared', fn () => prepared(open(), 'CALL two(?)', [7]));
    step('CALL with an error after a result', fn () => several(open(), 'CALL fails()'));
    step('several statements', fn () => several(open(), 'INSERT INTO s VALUES (NULL, 1), (NULL, 2); SELECT * FROM s; UPDATE s SET a = 3; SELECT a FROM s'));
    step('several statements, the second wrong', fn () => several(open(), 'SELECT 1; SELECT * FROM missing; SELECT 3'));
}

function transactions(): void
{
    foreach (['commit', 'rollback', 'savepoint', 'close'] as $end) {
        step("transaction, $end", function () use ($end) {
            table('t', 'n INT PRIMARY KEY');
            $connection = open();
            begin($connection);
            $seen = ask($connection, ['INSERT INTO t VALUES (1)', 'SAVEPOINT a', 'INSERT INTO t VALUES (2)', 'INSERT INTO t VALUES (2)', 'SELECT @@in_transaction, @@autocommit']);
            if ($end === 'savepoint') {
                $seen[] = ask($connection, ['ROLLBACK TO SAVEPOINT a', 'RELEASE SAVEPOINT a', 'ROLLBACK TO SAVEPOINT a']);
            }
            match ($end) {
                'commit', 'savepoint' => commit($connection),
                'rollback' => rollback($connection),
                'close' => $connection = null,
            };
            return [$seen, once(['SELECT n FROM t ORDER BY n'])];
        });
    }
}

function counts(): void
{
    table('i', 'n INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, b VARCHAR(3)');
    step('last insert id', fn () => once(['INSERT INTO i (a) VALUES (1)', 'SELECT LAST_INSERT_ID()', 'INSERT INTO i (a) VALUES (2), (3)',
        'INSERT INTO i VALUES (50, 4, NULL)', 'UPDATE i SET n = LAST_INSERT_ID(n + 100) WHERE a = 1', 'SELECT LAST_INSERT_ID()']));
    $changes = ['UPDATE i SET a = a', "UPDATE i SET b = 'x' WHERE a < 3", "UPDATE i SET b = 'x'", 'DELETE FROM i WHERE a = 4',
        "INSERT INTO i (a) VALUES (2) ON DUPLICATE KEY UPDATE b = 'y'", 'REPLACE INTO i (a) VALUES (3)', 'SELECT ROW_COUNT()'];
    step('affected rows', fn () => once($changes));
    step('affected rows as found rows', fn () => once($changes, ['found_rows' => true]));
    step('warnings', fn () => once(['SELECT 1/0', 'SHOW WARNINGS', 'DROP TABLE IF EXISTS missing', 'SHOW WARNINGS',
        "INSERT IGNORE INTO i (a, b) VALUES (2, 'x'), (9, 'too long')", 'SHOW WARNINGS', 'SHOW COUNT(*) WARNINGS']));
}

function refusals(): void
{
    table('e', 'n INT NOT NULL PRIMARY KEY, a VARCHAR(10)', "(1, 'one')");
    foreach (lines('errors.sql') as $sql) {
        step("error of $sql", fn () => once([$sql]));
    }
    step('login with a wrong password', fn () => open(['password' => 'wrong']) ? 'let in' : '');
    step('login to an unknown schema', fn () => open(['database' => 'missing']) ? 'let in' : '');
}

function streams(): void
{
    table('d', 'n INT', implode(', ', array_map(fn ($n) => "($n)", range(0, 199))));
    $sql = "SELECT a.n * 100 + b.n AS a, REPEAT('x', a.n) AS b, NULL AS c FROM d AS a, d AS b ORDER BY 1";
    step('streamed, 40,000 rows', fn () => streamed(open(), $sql, PHP_INT_MAX));
    step('streamed, read in part', fn () => streamed(open(), $sql, 10));
}

function transports(): void
{
    table('f', 'n INT, a VARCHAR(20)');
    $load = "LOAD DATA LOCAL INFILE '" . env('DB_SCENARIO') . "/infile.csv' INTO TABLE f FIELDS TERMINATED BY ','";
    step('LOAD DATA LOCAL INFILE', fn () => once([$load, 'SELECT * FROM f'], ['infile' => true]));
    step('LOAD DATA LOCAL INFILE, not allowed', fn () => once([$load]));
    step('TLS', fn () => array_map('md5', array_map('serialize', once(["SELECT REPEAT('t', 1000000)"], ['port' => (int) env('DB_TLS_PORT'), 'ca' => env('DB_CA')]))));
    step('compression', fn () => array_map('md5', array_map('serialize', once(["SELECT REPEAT('c', 4000000)"], ['port' => (int) env('DB_COMPRESSION_PORT'), 'compress' => true]))));
}
