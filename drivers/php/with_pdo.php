<?php
// The scenario's verbs with PDO.
declare(strict_types=1);

function open(array $settings = []): PDO
{
    $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => false, PDO::MYSQL_ATTR_LOCAL_INFILE => isset($settings['infile'])];
    $options += isset($settings['found_rows']) ? [PDO::MYSQL_ATTR_FOUND_ROWS => true] : [];
    $options += isset($settings['compress']) ? [PDO::MYSQL_ATTR_COMPRESS => true] : [];
    $options += isset($settings['ca']) ? [PDO::MYSQL_ATTR_SSL_CA => $settings['ca']] : [];
    $options[PDO::ATTR_EMULATE_PREPARES] = isset($settings['emulate']);
    $dsn = 'mysql:host=' . env('DB_HOST') . ';port=' . ($settings['port'] ?? env('DB_PORT')) . ';dbname=' . ($settings['database'] ?? env('DB_NAME'))
        . ';charset=' . ($settings['charset'] ?? 'utf8mb4');
    return new PDO($dsn, env('DB_USER'), $settings['password'] ?? env('DB_PASSWORD'), $options);
}

// All results of an executed statement.
function told(PDOStatement $statement): array
{
    $seen = [];
    do {
        if ($statement->columnCount() > 0) {
            $columns = array_map(fn ($n) => $statement->getColumnMeta($n), range(0, min($statement->columnCount(), 50) - 1));
            $seen[] = [$columns, $statement->fetchAll(PDO::FETCH_NUM)];
        } else {
            $seen[] = $statement->rowCount();
        }
    } while ($statement->nextRowset());
    return $seen;
}

function ask(PDO $connection, array $statements): array
{
    $seen = [];
    foreach ($statements as $sql) {
        try {
            $statement = $connection->query($sql);
            $seen[] = [told($statement), $connection->lastInsertId()];
        } catch (PDOException $error) {
            $seen[] = refusal($error);
        }
        unset($statement);
    }
    return $seen;
}

function prepared(PDO $connection, string $sql, array $values): array
{
    $statement = $connection->prepare($sql);
    $statement->execute($values);
    return told($statement);
}

function several(PDO $connection, string $sql): array
{
    return ask(open(['emulate' => true]), [$sql, "SELECT 'next'"]);
}

function begin(PDO $connection): void
{
    $connection->beginTransaction();
}

function commit(PDO $connection): void
{
    $connection->commit();
}

function rollback(PDO $connection): void
{
    $connection->rollBack();
}

function streamed(PDO $connection, string $sql, int $rowsMax): array
{
    $connection->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);
    $statement = $connection->query($sql);
    $hash = hash_init('md5');
    for ($count = 0; $count < $rowsMax && $row = $statement->fetch(PDO::FETCH_NUM); $count++) {
        hash_update($hash, implode(' ', array_map('strval', $row)));
    }
    $statement->closeCursor();
    return [$count, hash_final($hash), ask($connection, ["SELECT 'next'"])];
}

function bigPackets(): void
{
    table('b', 'a LONGTEXT');
    step('20 MiB written', fn () => [prepared(open(), 'INSERT INTO b VALUES (?)', [big()]), once(['SELECT LENGTH(a), SHA2(a, 256) FROM b'])]);
    step('20 MiB read', fn () => digest(open()->query('SELECT a FROM b')->fetchColumn()));
    step('20 MiB both ways, emulated', fn () => digest(prepared(open(['emulate' => true]), 'SELECT CONCAT(?, a) FROM b', [big()])[0][1][0][0]));
}

function preparedStatements(): void
{
    table('p', 'n INT PRIMARY KEY, a VARCHAR(20)');
    step('prepared, executed often', function () {
        $connection = open();
        $insert = $connection->prepare('INSERT INTO p VALUES (?, ?)');
        for ($n = 0; $n < 50; $n++) {
            $insert->execute([$n, $n % 5 ? "row $n" : null]);
        }
        $select = $connection->prepare('SELECT n, a FROM p WHERE n = ?');
        $seen = [];
        foreach ([1, 5, 49, 50] as $n) {
            $select->execute([$n]);
            $seen[] = $select->fetchAll(PDO::FETCH_NUM);
        }
        return $seen;
    });
    step('prepared, table altered between', function () {
        $connection = open();
        $select = $connection->prepare('SELECT * FROM p WHERE n = ?');
        $seen = [];
        foreach (['DO 1', 'ALTER TABLE p ADD b DOUBLE DEFAULT 1.5', 'ALTER TABLE p MODIFY a TEXT', 'DROP TABLE p'] as $change) {
            ask($connection, [$change]);
            try {
                $select->execute([1]);
                $seen[] = told($select);
            } catch (PDOException $error) {
                $seen[] = refusal($error);
            }
        }
        return $seen;
    });
}

function sessions(): void
{
    step('persistent connection', function () {
        $dsn = 'mysql:host=' . env('DB_HOST') . ';port=' . env('DB_PORT') . ';dbname=' . env('DB_NAME');
        $seen = [];
        foreach ([1, 2] as $turn) {
            $connection = new PDO($dsn, env('DB_USER'), env('DB_PASSWORD'), [PDO::ATTR_PERSISTENT => true]);
            $seen[] = ask($connection, ['SELECT @a', "SET @a = $turn"]);
            $connection = null;
        }
        return $seen;
    });
    step('server version', fn () => [open()->getAttribute(PDO::ATTR_SERVER_VERSION), open()->getAttribute(PDO::ATTR_CLIENT_VERSION)]);
}
