// How a step is run and printed: one line each, `name<TAB>result`, the result without tabs or line ends. What a server
// refuses is part of a result; anything else that is thrown makes it begin with `raised `, which fails the step.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

const SECONDS_MAX = 15;
const scenario = process.env.DB_SCENARIO;
const lines = (name) => fs.readFileSync(path.join(scenario, name), 'utf8').split('\n').filter(Boolean);

const shown = (_, value) => {
  if (typeof value === 'bigint') return `${value}n`;
  if (value && value.type === 'Buffer' && Array.isArray(value.data)) return `0x${Buffer.from(value.data).toString('hex')}`;
  return value;
};

async function step(name, run) {
  let result;
  let timer;
  try {
    // A driver that never settles its promise must not stop the others.
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('no answer')), SECONDS_MAX * 1000); });
    result = await Promise.race([run(), late]);
  } catch (error) {
    result = `raised ${error && error.stack ? error.stack.split('\n').slice(0, 4).join(' ') : error}`;
  }
  clearTimeout(timer);
  const text = typeof result === 'string' ? result : JSON.stringify(result, shown);
  fs.writeSync(1, `${name}\t${String(text).replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t')}\n`);
}

// A server's refusal as a value.
function refusal(error) {
  if (error && error.errno !== undefined && error.sqlState !== undefined) {
    return `error ${error.errno} (${error.sqlState}): ${error.sqlMessage ?? error.message}`;
  }
  throw error;
}

function digest(value) {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value));
  return `${bytes.length} bytes, ${crypto.createHash('md5').update(bytes).digest('hex')}`;
}

async function waitUntil(condition) {
  const deadline = Date.now() + 10000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not come true');
    await new Promise((done) => setTimeout(done, 20));
  }
}

module.exports = {
  step, refusal, digest, waitUntil, scenario,
  types: () => lines('types.tsv').map((line) => line.split('\t')),
  erring: () => lines('errors.sql'),
};
