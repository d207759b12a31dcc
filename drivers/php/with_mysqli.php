<?php
// The scenario's verbs with mysqli.
declare(strict_types=1);
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

function open(array $settings = []): mysqli
{
    $connection = mysqli_init();
    $connection->options(MYSQLI_OPT_LOCAL_INFILE, isset($settings['infile']) ? 1 : 0);
    $connection->options(MYSQLI_SET_CHARSET_NAME, $settings['charset'] ?? 'utf8mb4');
    $flags = isset($settings['found_rows']) ? MYSQLI_CLIENT_FOUND_ROWS : 0;
    if (isset($settings['compress'])) {
        $flags |= MYSQLI_CLIENT_COMPRESS;
    }
    if (isset($settings['ca'])) {
        $connection->ssl_set(null, null, $settings['ca'], null, null);
        $flags |= MYSQLI_CLIENT_SSL;
    }
    $connection->real_connect(env('DB_HOST'), env('DB_USER'), $settings['password'] ?? env('DB_PASSWORD'), $settings['database'] ?? env('DB_NAME'),
        $settings['port'] ?? (int) env('DB_PORT'), null, $flags);
    return $connection;
}

function told(mysqli_result|bool $result, mysqli|mysqli_stmt $source): array
{
    if ($result instanceof mysqli_result) {
        $columns = array_map(fn ($f) => [$f->name, $f->orgname, $f->table, $f->db, $f->length, $f->charsetnr, $f->flags, $f->type, $f->decimals], $result->fetch_fields());
        return [$columns, $result->fetch_all(), $source->warning_count ?? null];
    }
    return [$source->affected_rows, $source->insert_id, $source->info ?? null, $source->warning_count ?? null];
}

function ask(mysqli $connection, array $statements): array
{
    $seen = [];
    foreach ($statements as $sql) {
        try {
            $seen[] = told($connection->query($sql), $connection);
        } catch (mysqli_sql_exception $error) {
            $seen[] = refusal($error);
        }
    }
    return $seen;
}

function prepared(mysqli $connection, string $sql, array $values): array
{
    $statement = $connection->prepare($sql);
    $statement->execute($values);
    $seen = [];
    do {
        $result = $statement->get_result();
        $seen[] = told($result, $statement);
    } while ($statement->more_results() && $statement->next_result());
    return $seen;
}

function several(mysqli $connection, string $sql): array
{
    $seen = [];
    try {
        $connection->multi_query($sql);
        do {
            $seen[] = told($connection->store_result() ?: true, $connection);
        } while ($connection->more_results() && $connection->next_result());
    } catch (mysqli_sql_exception $error) {
        $seen[] = refusal($error);
    }
    return [$seen, ask($connection, ["SELECT 'next'"])];
}

function begin(mysqli $connection): void
{
    $connection->autocommit(false);
    $connection->begin_transaction();
}

function commit(mysqli $connection): void
{
    $connection->commit();
}

function rollback(mysqli $connection): void
{
    $connection->rollback();
}

function streamed(mysqli $connection, string $sql, int $rowsMax): array
{
    $result = $connection->query($sql, MYSQLI_USE_RESULT);
    $hash = hash_init('md5');
    for ($count = 0; $count < $rowsMax && $row = $result->fetch_row(); $count++) {
        hash_update($hash, implode(' ', array_map('strval', $row)));
    }
    $result->free();
    return [$count, hash_final($hash), ask($connection, ["SELECT 'next'"])];
}

function bigPackets(): void
{
    table('b', 'a LONGTEXT');
    step('20 MiB written', fn () => once(["INSERT INTO b VALUES ('" . big() . "')", 'SELECT LENGTH(a), SHA2(a, 256) FROM b']));
    step('20 MiB read', fn () => digest(open()->query('SELECT a FROM b')->fetch_row()[0]));
    step('20 MiB both ways, prepared', fn () => digest(prepared(open(), 'SELECT CONCAT(?, a) FROM b', [big()])[0][1][0][0]));
    step('20 MiB as long data', function () {
        $statement = open()->prepare('SELECT LENGTH(?), SHA2(?, 256)');
        $null = null;
        $statement->bind_param('bb', $null, $null);
        foreach (str_split(big(), 1 << 20) as $part) {
            $statement->send_long_data(0, $part);
            $statement->send_long_data(1, $part);
        }
        $statement->execute();
        return told($statement->get_result(), $statement);
    });
}

function preparedStatements(): void
{
    table('p', 'n INT PRIMARY KEY, a VARCHAR(20)');
    step('prepared, executed often', function () {
        $connection = open();
        $insert = $connection->prepare('INSERT INTO p VALUES (?, ?)');
        for ($n = 0; $n < 50; $n++) {
            $insert->bind_param('is', $n, $text);
            $text = $n % 5 ? "row $n" : null;
            $insert->execute();
        }
        $select = $connection->prepare('SELECT n, a FROM p WHERE n = ?');
        $seen = [$insert->affected_rows];
        foreach ([1, 5, 49, 50] as $n) {
            $select->execute([$n]);
            $seen[] = $select->get_result()->fetch_all();
        }
        $select->reset();
        $select->close();
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
                $seen[] = told($select->get_result(), $select);
            } catch (mysqli_sql_exception $error) {
                $seen[] = refusal($error);
            }
        }
        return $seen;
    });
    step('200 prepared at once', function () {
        $connection = open();
        $all = array_map(fn ($n) => $connection->prepare("SELECT ? + $n"), range(0, 199));
        $seen = [];
        foreach ([0, 1000] as $add) {
            foreach ($all as $one) {
                $one->execute([$add]);
                $seen[] = $one->get_result()->fetch_row()[0];
            }
        }
        return implode(' ', $seen);
    });
    step('cursor', function () {
        $select = open()->prepare('SELECT a.n * 5 + b.n FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS a, (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS b ORDER BY 1');
        $select->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
        $select->execute();
        $select->bind_result($value);
        $seen = [];
        while ($select->fetch()) {
            $seen[] = $value;
        }
        return $seen;
    });
}

function sessions(): void
{
    $state = "SELECT DATABASE(), SUBSTRING_INDEX(USER(), '@', 1), @a, @@sql_mode = '', @@autocommit";
    step('change user', function () use ($state) {
        $connection = open();
        $seen = ask($connection, ['SET @a = 1', "SET sql_mode = ''", 'SET autocommit = 0', $state]);
        $connection->change_user(env('DB_OTHER_USER'), env('DB_OTHER_PASSWORD'), 'information_schema');
        return [$seen, ask($connection, [$state])];
    });
    step('another schema', function () use ($state) {
        $connection = open();
        return [$connection->select_db('information_schema'), ask($connection, [$state])];
    });
    step('set_charset', function () {
        $connection = open();
        return [$connection->set_charset('latin1'), $connection->character_set_name(), ask($connection, ['SELECT @@character_set_results'])];
    });
    step('server version', fn () => [($one = open())->server_info, $one->server_version, $one->protocol_version]);
    step('statistics', fn () => preg_match('/Uptime: \d+/', open()->stat()));
    step('8 asynchronous statements', function () {
        $all = array_map(fn () => open(), range(0, 7));
        foreach ($all as $n => $one) {
            $one->query("SELECT $n, SLEEP(0.1)", MYSQLI_ASYNC);
        }
        return array_map(fn ($one) => $one->reap_async_query()->fetch_row(), $all);
    });
    foreach (['QUERY', 'CONNECTION'] as $what) {
        step("KILL $what", function () use ($what) {
            [$victim, $killer] = [open(), open()];
            $sleep = "SELECT SLEEP(2), '$what'";
            $victim->query($sleep, MYSQLI_ASYNC);
            $running = "SELECT COUNT(*) FROM information_schema.processlist WHERE info = '" . addslashes($sleep) . "'";
            for ($turn = 0; $turn < 500 && $killer->query($running)->fetch_row()[0] == 0; $turn++) {
                usleep(10000);
            }
            $killed = ask($killer, ["KILL $what {$victim->thread_id}"]);
            try {
                return [$killed, $victim->reap_async_query()->fetch_row()];
            } catch (mysqli_sql_exception $error) {
                return [$killed, refusal($error)];
            }
        });
    }
}
