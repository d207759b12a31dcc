// The two drivers, each with the same methods, as far as the driver has them.
'use strict';
const fs = require('fs');

const env = process.env;
const login = () => ({
  host: env.DB_HOST,
  port: Number(env.DB_PORT),
  user: env.DB_USER,
  password: env.DB_PASSWORD,
  database: env.DB_NAME,
});
const other = () => ({ user: env.DB_OTHER_USER, password: env.DB_OTHER_PASSWORD, database: 'information_schema' });

class Mysql2 {
  constructor() {
    this.driver = require('mysql2/promise');
    this.foundRows = { flags: ['FOUND_ROWS'] };
    this.notFoundRows = { flags: ['-FOUND_ROWS'] };
    this.compressed = { compress: true };
    this.exactNumbers = { supportBigNumbers: true, bigNumberStrings: true };
    this.localInfile = { infileStreamFactory: (path) => fs.createReadStream(path) };
    this.canReset = false;
  }
  settings(more) {
    const { ca, charset, ...rest } = more;
    return {
      ...login(), multipleStatements: true, charset: charset || 'utf8mb4', ...this.notFoundRows, ...this.exactNumbers,
      ...(ca ? { ssl: { ca: fs.readFileSync(ca), verifyIdentity: false } } : {}), ...rest,
    };
  }
  open(more) { return this.driver.createConnection(this.settings(more)); }
  pool(more) { return this.driver.createPool(this.settings(more)); }
  // What the driver says of a result: rows, counts and columns.
  async ask(connection, sql, values) {
    const [rows, fields] = await connection.query({ sql, values });
    return told(rows, fields);
  }
  async prepared(connection, sql, values) {
    const [rows, fields] = await connection.execute(sql, values);
    return told(rows, fields);
  }
  async prepare(connection, sql) {
    const statement = await connection.prepare(sql);
    return {
      execute: async (values) => told(...(await statement.execute(values))),
      close: () => statement.close(),
    };
  }
  // As the driver gives it, session tracking included.
  async tracked(connection, sql) { return (await connection.query(sql))[0]; }
  async changeUser(connection) { await connection.changeUser(other()); }
  stream(connection, sql) { return connection.connection.query(sql).stream(); }
  threadId(connection) { return connection.threadId; }
  async end(connection) { await connection.end(); }
  version(connection) { return connection.connection._handshakePacket.serverVersion; }
}

class MariaDb {
  constructor() {
    this.driver = require('mariadb');
    this.foundRows = { foundRows: true };
    this.notFoundRows = { foundRows: false };
    this.compressed = { compress: true };
    this.exactNumbers = {};
    this.localInfile = { permitLocalInfile: true };
    this.canReset = true;
  }
  settings(more) {
    const { ca, charset, ...rest } = more;
    return {
      ...login(), multipleStatements: true, ...this.notFoundRows, checkDuplicate: false, maxAllowedPacket: 64 << 20,
      // Otherwise statements are sent before the answers to those before them have come; that has steps of its own.
      pipelining: false, allowPublicKeyRetrieval: true, ...(charset ? { charset } : {}), ...(ca ? { ssl: { ca: fs.readFileSync(ca), rejectUnauthorized: true } } : {}), ...rest,
    };
  }
  open(more) { return this.driver.createConnection(this.settings(more)); }
  pool(more) { return this.driver.createPool(this.settings(more)); }
  async ask(connection, sql, values) { return toldByMariaDb(await connection.query(sql, values)); }
  async prepared(connection, sql, values) { return toldByMariaDb(await connection.execute(sql, values)); }
  async prepare(connection, sql) {
    const statement = await connection.prepare(sql);
    return { execute: async (values) => toldByMariaDb(await statement.execute(values)), close: () => statement.close() };
  }
  async batch(connection, sql, rows) { return connection.batch(sql, rows); }
  async changeUser(connection) { await connection.changeUser(other()); }
  async tracked(connection, sql) { return connection.query(sql); }
  async reset(connection) { await connection.reset(); }
  stream(connection, sql) { return connection.queryStream(sql); }
  threadId(connection) { return connection.threadId; }
  async end(connection) { await connection.end(); }
  version(connection) { return connection.serverVersion(); }
}

const column = (f) => [f.name, f.columnType ?? f.type, f.columnLength, f.flags, f.characterSet ?? f.collation?.index, f.decimals ?? f.scale];

// A result without what the server tells only to clients that track the session: that has a step of its own.
function untracked(rows) {
  for (const one of [rows].flat()) {
    if (one && one.serverStatus !== undefined) {
      delete one.info;
      delete one.stateChanges;
      one.serverStatus &= ~0x4000;
    }
  }
  return rows;
}

function told(rows, fields) {
  const columns = (Array.isArray(fields) ? fields : [fields]).map((f) => (Array.isArray(f) ? f.map(column) : f && column(f)));
  return { rows: untracked(rows), columns };
}

function toldByMariaDb(result) {
  const metas = (Array.isArray(result) ? [result, ...result] : [result]).map((one) => one && one.meta).filter(Boolean);
  return { rows: result, columns: metas.map((meta) => meta.map(column)) };
}

module.exports = { mysql2: Mysql2, mariadb: MariaDb };
