// The scenario for Node's drivers: scenario.js mysql2|mariadb.
'use strict';
const adapters = require('./adapters.js');
const { step: printed, refusal, digest, waitUntil, scenario, types, erring } = require('./steps.js');

const driver = new adapters[process.argv[2]]();
const big = '0123456789abcdef'.repeat((20 << 20) / 16);
let opened = [];

// A connection that lives until the step ends.
async function open(more = {}) {
  const connection = await driver.open(more);
  connection.on?.('error', () => {});
  opened.push(connection);
  return connection;
}

async function step(name, run) {
  await printed(name, run);
  for (const connection of opened) connection.destroy();
  opened = [];
}

// What each statement gives; a refusal is part of it.
async function ask(connection, ...statements) {
  const seen = [];
  for (const sql of statements) seen.push(await driver.ask(connection, sql).catch(refusal));
  return seen;
}

async function once(statements, more = {}) {
  const connection = await driver.open(more);
  try {
    return await ask(connection, ...[].concat(statements));
  } finally {
    await driver.end(connection).catch(() => {});
  }
}

async function table(name, columns, ...rows) {
  const values = rows.length ? [`INSERT INTO ${name} VALUES ${rows.join(', ')}`] : [];
  await once([`DROP TABLE IF EXISTS ${name}`, `CREATE TABLE ${name} (${columns}) ENGINE=InnoDB`, ...values]);
}

async function values() {
  for (const [kind, low, high] of types()) {
    await table('v', `n INT, a ${kind}`, `(1, ${low})`, `(2, ${high})`, '(3, NULL)');
    await step(`text ${kind}`, () => once('SELECT a, a IS NULL AS n FROM v ORDER BY v.n'));
    await step(`binary ${kind}`, async () =>
      driver.prepared(await open(), 'SELECT a, a IS NULL AS n FROM v WHERE v.n > ? ORDER BY v.n', [0]));
  }
  await step('NULLs', () => once(['SELECT NULL AS a, 1 AS b, NULL AS c, \'\' AS d', 'SELECT NULL FROM DUAL WHERE 0']));
  await step('1001 columns', () => once(`SELECT ${Array.from({ length: 1001 }, (_, n) => `${n} AS c${n}`).join(', ')}`));
}

async function characterSets() {
  const questions = ["SELECT u, l, 'z', HEX(u), HEX(l) FROM c", "SELECT @@character_set_client, @@character_set_results, HEX('é')"];
  await table('c', 'u VARCHAR(20) CHARACTER SET utf8mb4, l VARCHAR(20) CHARACTER SET latin1', "(_utf8mb4 X'C3A9F09D849E', _latin1 X'E9')");
  for (const charset of ['utf8mb4', 'latin1']) await step(`character set ${charset}`, () => once(questions, { charset }));
}

async function bigPackets() {
  await table('b', 'a LONGTEXT');
  await step('20 MiB written', async () => {
    const connection = await open();
    return [await driver.ask(connection, 'INSERT INTO b VALUES (?)', [big]), await ask(connection, 'SELECT LENGTH(a), SHA2(a, 256) FROM b')];
  });
  await step('20 MiB read', async () => digest((await driver.ask(await open(), 'SELECT a FROM b')).rows[0].a));
  await step('20 MiB both ways, prepared', async () =>
    digest((await driver.prepared(await open(), 'SELECT CONCAT(?, a) AS a FROM b', [big])).rows[0].a));
}

async function preparedStatements() {
  await table('p', 'n INT PRIMARY KEY, a VARCHAR(20)');
  await step('prepared, executed often', async () => {
    const connection = await open();
    const insert = await driver.prepare(connection, 'INSERT INTO p VALUES (?, ?)');
    for (let n = 0; n < 50; n++) await insert.execute([n, n % 5 ? `row ${n}` : null]);
    const select = await driver.prepare(connection, 'SELECT n, a FROM p WHERE n = ?');
    const seen = [];
    for (const n of [1, 5, 49, 50]) seen.push(await select.execute([n]));
    await insert.close();
    await select.close();
    return [seen, await ask(connection, 'SELECT COUNT(*) FROM p')];
  });
  await step('prepared, table altered between', async () => {
    const connection = await open();
    const select = await driver.prepare(connection, 'SELECT * FROM p WHERE n = ?');
    const seen = [];
    for (const change of ['DO 1', 'ALTER TABLE p ADD b DOUBLE DEFAULT 1.5', 'ALTER TABLE p MODIFY a TEXT', 'DROP TABLE p']) {
      await ask(connection, change);
      seen.push(await select.execute([1]).catch(refusal));
    }
    return seen;
  });
  await step('200 prepared at once', async () => {
    const connection = await open();
    const statements = [];
    for (let n = 0; n < 200; n++) statements.push(await driver.prepare(connection, `SELECT ? + ${n} AS a`));
    const seen = [];
    for (let turn = 0; turn < 2; turn++) for (const one of statements) seen.push((await one.execute([turn * 1000])).rows[0].a);
    return seen;
  });
  for (const fullResult of driver.batch ? [false, true] : []) {
    await table('b', 'n INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(20) UNIQUE, j JSON');
    await step(`batch, fullResult=${fullResult}`, async () => {
      const connection = await open({ fullResult });
      const rows = Array.from({ length: 30 }, (_, n) => [n % 7 ? `row ${n}` : null, JSON.stringify({ n })]);
      const seen = [await driver.batch(connection, 'INSERT INTO b (a, j) VALUES (?, ?)', rows)];
      seen.push(await ask(connection, 'SELECT LAST_INSERT_ID()'));
      seen.push(await driver.batch(connection, 'UPDATE b SET j = ? WHERE a = ?', [['{}', 'row 1'], ['[1]', 'row 2'], ['{}', 'none']]));
      seen.push(await driver.batch(connection, 'INSERT INTO b (a) VALUES (?)', [['new'], ['row 1'], ['later']]).catch(refusal));
      seen.push(await ask(connection, 'SELECT * FROM b ORDER BY n'));
      return seen;
    });
  }
  await step('prepare of a wrong statement', async () => driver.prepare(await open(), 'SELECT FROM').catch(refusal));
  await step('CALL, prepared', async () => driver.prepared(await open(), 'CALL two(?)', [5]));
}

async function severalResults() {
  await once([
    'DROP PROCEDURE IF EXISTS two',
    "CREATE PROCEDURE two(IN a INT) BEGIN SELECT a, 'one'; SELECT NULL AS x UNION SELECT a + 1; DO 1; END",
    'DROP PROCEDURE IF EXISTS fails',
    "CREATE PROCEDURE fails() BEGIN SELECT 'before'; SELECT * FROM missing; SELECT 'after'; END",
  ]);
  await step('CALL with two results', () => once(['CALL two(7)', "SELECT 'next'"]));
  await step('CALL with an error after a result', () => once(['CALL fails()', "SELECT 'next'"]));
  await table('s', 'n INT AUTO_INCREMENT PRIMARY KEY, a INT');
  await step('several statements', () =>
    once('INSERT INTO s VALUES (NULL, 1), (NULL, 2); SELECT * FROM s; UPDATE s SET a = 3; SELECT a FROM s'));
  await step('several statements, the second wrong', () => once(['SELECT 1; SELECT * FROM missing; SELECT 3', 'SELECT 4']));
  await step('several statements, not allowed', () => once('SELECT 1; SELECT 2', { multipleStatements: false }));
}

async function transactions() {
  const insert = (n) => `INSERT INTO t VALUES (${n})`;
  const transaction = async (end, ...statements) => {
    await table('t', 'n INT PRIMARY KEY');
    const connection = await open();
    await connection.beginTransaction();
    const seen = await ask(connection, ...statements);
    if (end) await connection[end]();
    else connection.destroy();
    return [seen, await once('SELECT n FROM t ORDER BY n')];
  };
  await step('commit', () => transaction('commit', insert(1), insert(2)));
  await step('rollback', () => transaction('rollback', insert(1), `SELECT COUNT(*), ${process.env.DB_SERVER === 'mysql' ? '@@autocommit' : '@@in_transaction'} FROM t`));
  await step('savepoint', () =>
    transaction('commit', insert(1), 'SAVEPOINT a', insert(2), 'ROLLBACK TO a', 'RELEASE SAVEPOINT a', 'ROLLBACK TO a'));
  await step('error inside of a transaction', () => transaction('commit', insert(1), insert(1), insert(2)));
  await step('autocommit off and on', async () => {
    await table('t', 'n INT PRIMARY KEY');
    const seen = await once(['SET autocommit = 0', insert(1), 'ROLLBACK', insert(2), 'SET autocommit = 1', 'SELECT @@autocommit']);
    return [seen, await once('SELECT n FROM t')];
  });
}

async function counts() {
  await table('i', 'n INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, b VARCHAR(3)');
  await step('last insert id', () =>
    once(['INSERT INTO i (a) VALUES (1)', 'SELECT LAST_INSERT_ID()', 'INSERT INTO i (a) VALUES (2), (3)',
      'INSERT INTO i VALUES (50, 4, NULL)', 'UPDATE i SET n = LAST_INSERT_ID(n + 100) WHERE a = 1', 'SELECT LAST_INSERT_ID()']));
  const changes = ['UPDATE i SET a = a', "UPDATE i SET b = 'x' WHERE a < 3", "UPDATE i SET b = 'x'", 'DELETE FROM i WHERE a = 4',
    "INSERT INTO i (a) VALUES (2) ON DUPLICATE KEY UPDATE b = 'y'", 'REPLACE INTO i (a) VALUES (3)', 'SELECT ROW_COUNT()'];
  await step('affected rows', () => once(changes));
  await step('affected rows as found rows', () => once(changes, driver.foundRows));
  await step('session tracking', async () => {
    const connection = await open();
    const seen = [];
    for (const sql of ['UPDATE i SET b = NULL', 'USE information_schema', 'SET autocommit = 0']) seen.push(await driver.tracked(connection, sql));
    return seen;
  });
  await step('warnings', () =>
    once(['SELECT 1/0', 'SHOW WARNINGS', "SELECT CAST('abc' AS SIGNED)", 'SHOW WARNINGS', 'DROP TABLE IF EXISTS missing', 'SHOW WARNINGS',
      "INSERT IGNORE INTO i (a, b) VALUES (2, 'x'), (9, 'too long')", 'SHOW WARNINGS']));
}

async function refusals() {
  await table('e', 'n INT NOT NULL PRIMARY KEY, a VARCHAR(10)', "(1, 'one')");
  for (const sql of erring()) await step(`error of ${sql}`, () => once(sql));
  const login = async (more) => { await open(more); return 'let in'; };
  await step('login with a wrong password', () => login({ password: 'wrong' }).catch(refusal));
  await step('login to an unknown schema', () => login({ database: 'missing' }).catch(refusal));
}

async function streams() {
  await table('d', 'n INT', ...Array.from({ length: 200 }, (_, n) => `(${n})`));
  const sql = "SELECT a.n * 100 + b.n AS a, REPEAT('x', a.n) AS b, NULL AS c FROM d AS a, d AS b ORDER BY 1";
  await step('streamed, 40,000 rows', async () => {
    let count = 0;
    const text = [];
    for await (const row of driver.stream(await open(), sql)) {
      count++;
      text.push(`${row.a} ${row.b} ${row.c}`);
    }
    return [count, digest(text.join(''))];
  });
}

async function kills() {
  const victim = async (number, what) => {
    const [connection, killer] = [await open(), await open()];
    const sleep = `SELECT SLEEP(2), ${number}`;
    const running = `SELECT COUNT(*) AS n FROM information_schema.processlist WHERE info = '${sleep}'`;
    const answer = driver.ask(connection, sleep).catch((error) => `error ${error.errno} ${error.code}`);
    await waitUntil(async () => Number((await driver.ask(killer, running)).rows[0].n) === 1);
    const killed = await ask(killer, `KILL ${what} ${driver.threadId(connection)}`);
    return [killed, await answer];
  };
  await step('KILL QUERY', () => victim(1, 'QUERY'));
  await step('KILL CONNECTION', () => victim(2, 'CONNECTION'));
}

async function pool() {
  await table('w', 'worker INT, n INT, PRIMARY KEY (worker, n)');
  await step('pool, 20 workers on 5 connections', async () => {
    const pool = driver.pool({ connectionLimit: 5 });
    const failures = [];
    const work = async (worker) => {
      for (let n = 0; n < 10; n++) {
        const connection = await pool.getConnection();
        await connection.beginTransaction();
        await driver.ask(connection, 'SET @worker = ?', [worker]);
        await driver.prepared(connection, 'INSERT INTO w VALUES (@worker, ?)', [n]);
        const { rows } = await driver.ask(connection, 'SELECT COUNT(*) AS n, @worker AS w FROM w WHERE worker = ?', [worker]);
        if (Number(rows[0].n) !== Math.ceil(n / 2) + 1 || Number(rows[0].w) !== worker) failures.push([worker, n, rows]);
        await connection[n % 2 ? 'rollback' : 'commit']();
        await connection.release();
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, worker) => work(worker)));
    await pool.end();
    return [failures, await once('SELECT COUNT(*), SUM(worker), SUM(n) FROM w')];
  });
  await step('many statements queued on one connection', async () => {
    const connection = await open(process.argv[2] === 'mariadb' ? { pipelining: true } : {});
    return Promise.all(Array.from({ length: 100 }, (_, n) => driver.ask(connection, n % 10 ? `SELECT ${n} AS a` : 'SELECT wrong').catch(refusal)));
  });
}

async function sessions() {
  const state = 'SELECT DATABASE(), SUBSTRING_INDEX(USER(), \'@\', 1) AS u, @a, @@sql_mode = \'\' AS m, @@autocommit';
  const after = async (call) => {
    const connection = await open();
    const before = await ask(connection, 'SET @a = 1', "SET sql_mode = ''", 'SET autocommit = 0', state);
    const refused = await call(connection).catch(refusal);
    if (refused) return [before, refused];
    return [before, await ask(connection, state)];
  };
  if (driver.canReset) await step('reset connection', () => after((connection) => driver.reset(connection)));
  await step('change user', () => after((connection) => driver.changeUser(connection)));
  await step('ping', async () => {
    const connection = await open();
    await connection.ping();
    return ask(connection, 'SELECT 1');
  });
  await step('another schema', () => once(['USE information_schema', state, `USE ${process.env.DB_NAME}`, state]));
  await step('server version', async () => driver.version(await open()));
}

async function transports() {
  await table('f', 'n INT, a VARCHAR(20)');
  const load = `LOAD DATA LOCAL INFILE '${scenario}/infile.csv' INTO TABLE f FIELDS TERMINATED BY ','`;
  await step('LOAD DATA LOCAL INFILE', () => once([load, 'SELECT * FROM f'], driver.localInfile));
  await step('LOAD DATA LOCAL INFILE, not allowed', async () => {
    const refused = await once(load).catch((error) => error.message.replace(/conn:-?\d+/, 'conn'));
    return typeof refused === 'string' ? refused : refused.map((one) => (typeof one === 'string' ? one.replace(/conn:-?\d+/, 'conn') : one));
  });
  await step('TLS', async () => {
    try {
      const connection = await open({ ca: process.env.DB_CA, port: Number(process.env.DB_TLS_PORT) });
      return digest((await driver.ask(connection, "SELECT REPEAT('t', 1000000) AS a")).rows[0].a);
    } catch (error) {
      return `refused: ${error.code}`;
    }
  });
  await step('compression', async () => {
    const connection = await open({ ...driver.compressed, port: Number(process.env.DB_COMPRESSION_PORT) });
    return digest((await driver.ask(connection, "SELECT REPEAT('c', 4000000) AS a")).rows[0].a);
  });
}

async function main() {
  const parts = [values, characterSets, bigPackets, severalResults, preparedStatements, transactions, counts, refusals, streams, kills,
    pool, sessions, transports];
  for (const part of parts) await part();
  process.exit(0);
}

process.on('unhandledRejection', (error) => process.stderr.write(`unhandled: ${error && error.stack}\n`));
main();
