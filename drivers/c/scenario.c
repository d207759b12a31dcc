/* The scenario for the C library libmariadb: text and prepared statements, cursors, long data, several results, session
 * commands, TLS and compression. Prints one line for each step, `name<TAB>result`. What a server refuses is part of a
 * result. */
#include <mysql.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIG_BYTES (20UL << 20)
#define COLUMN_BYTES (BIG_BYTES * 2 + 100)

/* The result of the step that runs. */
static char *text;
static size_t text_size;
static FILE *out;

static void begin(void) { out = open_memstream(&text, &text_size); }

static void end(const char *name) {
  fclose(out);
  printf("%s\t", name);
  for (size_t at = 0; at < text_size; at++) {
    switch (text[at]) {
    case '\n': fputs("\\n", stdout); break;
    case '\r': fputs("\\r", stdout); break;
    case '\t': fputs("\\t", stdout); break;
    case '\0': fputs("\\0", stdout); break;
    case '\\': fputs("\\\\", stdout); break;
    default: putchar(text[at]);
    }
  }
  putchar('\n');
  fflush(stdout);
  free(text);
}

static const char *env(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static void digest(const char *data, size_t size) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned hash_size = 0;
  EVP_Digest(data, size, hash, &hash_size, EVP_md5(), NULL);
  fprintf(out, "%zu bytes ", size);
  for (unsigned n = 0; n < hash_size; n++) fprintf(out, "%02x", hash[n]);
}

static void value(const char *data, size_t size) {
  if (!data) fputs("NULL", out);
  else if (size > 400) digest(data, size);
  else fwrite(data, 1, size, out);
  fputs(", ", out);
}

static void refusal(MYSQL *one) { fprintf(out, "error %u (%s): %s; ", mysql_errno(one), mysql_sqlstate(one), mysql_error(one)); }

static void refused(MYSQL_STMT *one) {
  fprintf(out, "error %u (%s): %s; ", mysql_stmt_errno(one), mysql_stmt_sqlstate(one), mysql_stmt_error(one));
}

/* What differs from a plain login. */
struct settings {
  const char *password, *schema, *charset, *ca;
  int port, found_rows, infile, compress;
};

static MYSQL *open_with(struct settings s) {
  MYSQL *one = mysql_init(NULL);
  unsigned infile = s.infile ? 1 : 0, seconds = 30;
  unsigned long packet = 64UL << 20;
  mysql_options(one, MYSQL_OPT_LOCAL_INFILE, &infile);
  mysql_options(one, MYSQL_SET_CHARSET_NAME, s.charset ? s.charset : "utf8mb4");
  mysql_options(one, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet);
  mysql_options(one, MYSQL_OPT_READ_TIMEOUT, &seconds);
  if (s.compress) mysql_options(one, MYSQL_OPT_COMPRESS, NULL);
  if (s.ca) {
    my_bool yes = 1;
    mysql_options(one, MYSQL_OPT_SSL_ENFORCE, &yes);
    mysql_options(one, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    mysql_ssl_set(one, NULL, NULL, s.ca, NULL, NULL);
  }
  unsigned long flags = CLIENT_MULTI_STATEMENTS | (s.found_rows ? CLIENT_FOUND_ROWS : 0);
  int port = s.port ? s.port : atoi(env("DB_PORT"));
  if (!mysql_real_connect(one, env("DB_HOST"), env("DB_USER"), s.password ? s.password : env("DB_PASSWORD"),
                          s.schema ? s.schema : env("DB_NAME"), port, NULL, flags)) {
    refusal(one);
    mysql_close(one);
    return NULL;
  }
  return one;
}

static MYSQL *open_one(void) { return open_with((struct settings){0}); }

static void columns(MYSQL_RES *result) {
  fputs("[", out);
  for (unsigned n = 0; n < mysql_num_fields(result) && n < 50; n++) {
    MYSQL_FIELD *f = mysql_fetch_field_direct(result, n);
    fprintf(out, "%s %s %s %s %s %d %lu %u %u %u; ", f->db, f->table, f->org_table, f->name, f->org_name, f->type, f->length, f->flags,
            f->decimals, f->charsetnr);
  }
  fputs("] ", out);
}

/* All results of what was sent. */
static void results(MYSQL *one) {
  for (int status = 0; status == 0; status = mysql_next_result(one)) {
    MYSQL_RES *result = mysql_store_result(one);
    if (result) {
      columns(result);
      for (MYSQL_ROW row; (row = mysql_fetch_row(result));) {
        unsigned long *sizes = mysql_fetch_lengths(result);
        fputs("(", out);
        for (unsigned n = 0; n < mysql_num_fields(result); n++) value(row[n], sizes[n]);
        fputs(") ", out);
      }
      mysql_free_result(result);
    } else if (mysql_errno(one)) {
      refusal(one);
    } else {
      fprintf(out, "%lld rows, id %llu, info %s ", (long long)mysql_affected_rows(one), (unsigned long long)mysql_insert_id(one),
              mysql_info(one) ? mysql_info(one) : "-");
    }
    fprintf(out, "%u warnings, status %u | ", mysql_warning_count(one),
            /* Session tracking is not asked for, but the library sees its flag. */
            one->server_status & ~SERVER_SESSION_STATE_CHANGED);
  }
  if (mysql_errno(one)) refusal(one);
}

static void ask(MYSQL *one, const char *sql) {
  if (mysql_query(one, sql)) refusal(one);
  else results(one);
}

/* A step of these statements, up to NULL, on a connection of its own. */
static void once_with(const char *name, struct settings s, ...) {
  begin();
  MYSQL *one = open_with(s);
  if (one) {
    va_list statements;
    va_start(statements, s);
    for (const char *sql; (sql = va_arg(statements, const char *));) ask(one, sql);
    va_end(statements);
    mysql_close(one);
  }
  end(name);
}
#define ONCE(name, ...) once_with(name, (struct settings){0}, __VA_ARGS__, NULL)

/* Makes the table, and tells only if that fails. */
static void make(const char *format, ...) {
  char sql[4096];
  va_list values;
  va_start(values, format);
  vsnprintf(sql, sizeof sql, format, values);
  va_end(values);
  begin();
  MYSQL *one = open_one();
  if (!one || mysql_query(one, sql)) {
    fprintf(stderr, "%s: %s\n", sql, one ? mysql_error(one) : "no connection");
    exit(1);
  }
  while (mysql_next_result(one) == 0) {}
  if (mysql_errno(one)) fprintf(stderr, "%s: %s\n", sql, mysql_error(one)), exit(1);
  mysql_close(one);
  fclose(out);
  free(text);
}

/* Fetches all rows of a prepared statement as the library turns them into texts. */
static int fetch_all(MYSQL_STMT *statement) {
  MYSQL_RES *meta = mysql_stmt_result_metadata(statement);
  if (!meta) {
    fprintf(out, "%lld rows ", (long long)mysql_stmt_affected_rows(statement));
    return 0;
  }
  columns(meta);
  unsigned count = mysql_num_fields(meta);
  MYSQL_BIND *binds = calloc(count, sizeof *binds);
  unsigned long *sizes = calloc(count, sizeof *sizes);
  my_bool *nulls = calloc(count, sizeof *nulls);
  for (unsigned n = 0; n < count; n++) {
    binds[n] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING, .buffer = malloc(COLUMN_BYTES), .buffer_length = COLUMN_BYTES,
                            .length = &sizes[n], .is_null = &nulls[n]};
  }
  int rows = 0, status = mysql_stmt_bind_result(statement, binds);
  while (!status && (status = mysql_stmt_fetch(statement)) == 0) {
    rows++;
    fputs("(", out);
    for (unsigned n = 0; n < count; n++) value(nulls[n] ? NULL : binds[n].buffer, sizes[n]);
    fputs(") ", out);
  }
  if (status != MYSQL_NO_DATA) fprintf(out, "status %d ", status), refused(statement);
  for (unsigned n = 0; n < count; n++) free(binds[n].buffer);
  free(binds), free(sizes), free(nulls);
  mysql_free_result(meta);
  return rows;
}

static MYSQL_STMT *prepare(MYSQL *one, const char *sql) {
  MYSQL_STMT *statement = mysql_stmt_init(one);
  if (mysql_stmt_prepare(statement, sql, strlen(sql))) refused(statement);
  return statement;
}

static void execute(MYSQL_STMT *statement, int argument) {
  MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_LONG, .buffer = &argument};
  mysql_stmt_bind_param(statement, &bind);
  if (mysql_stmt_execute(statement)) refused(statement);
}

static void values(void) {
  char path[4096], name[300];
  snprintf(path, sizeof path, "%s/types.tsv", env("DB_SCENARIO"));
  FILE *types = fopen(path, "r");
  if (!types) perror(path), exit(1);
  for (char line[1000]; fgets(line, sizeof line, types);) {
    char *kind = strtok(line, "\t"), *low = strtok(NULL, "\t"), *high = strtok(NULL, "\n");
    make("DROP TABLE IF EXISTS v; CREATE TABLE v (n INT, a %s); INSERT INTO v VALUES (1, %s), (2, %s), (3, NULL)", kind, low, high);
    snprintf(name, sizeof name, "text %s", kind);
    ONCE(name, "SELECT a, a IS NULL AS n FROM v ORDER BY v.n");
    begin();
    MYSQL *one = open_one();
    MYSQL_STMT *statement = prepare(one, "SELECT a, a IS NULL AS n FROM v WHERE v.n > ? ORDER BY v.n");
    execute(statement, 0);
    fetch_all(statement);
    mysql_stmt_close(statement);
    mysql_close(one);
    snprintf(name, sizeof name, "binary %s", kind);
    end(name);
  }
  fclose(types);
  ONCE("NULLs", "SELECT NULL, 1, NULL, '', NULL", "SELECT NULL FROM DUAL WHERE 0");
  make("DROP TABLE IF EXISTS c; CREATE TABLE c (u VARCHAR(20) CHARACTER SET utf8mb4, l VARCHAR(20) CHARACTER SET latin1);"
       "INSERT INTO c VALUES (_utf8mb4 X'C3A9F09D849E', _latin1 X'E9')");
  const char *charsets[] = {"utf8mb4", "latin1", "utf8mb3"};
  for (int n = 0; n < 3; n++) {
    snprintf(name, sizeof name, "character set %s", charsets[n]);
    once_with(name, (struct settings){.charset = charsets[n]}, "SELECT HEX(u), l, HEX(l) FROM c",
              "SELECT @@character_set_client, @@character_set_results, @@collation_connection", NULL);
  }
}

static void big_packets(void) {
  make("DROP TABLE IF EXISTS b; CREATE TABLE b (a LONGTEXT)");
  char *sql = malloc(BIG_BYTES + 100);
  size_t size = sprintf(sql, "INSERT INTO b VALUES ('");
  memset(sql + size, 'b', BIG_BYTES);
  strcpy(sql + size + BIG_BYTES, "')");
  ONCE("20 MiB written", sql, "SELECT LENGTH(a), SHA2(a, 256) FROM b");
  free(sql);
  ONCE("20 MiB read", "SELECT a FROM b");
  begin();
  MYSQL *one = open_one();
  MYSQL_STMT *statement = prepare(one, "SELECT CONCAT(?, a) FROM b");
  MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING};
  mysql_stmt_bind_param(statement, &bind);
  char *part = malloc(1 << 20);
  memset(part, 'p', 1 << 20);
  for (int n = 0; n < 20; n++)
    if (mysql_stmt_send_long_data(statement, 0, part, 1 << 20)) refused(statement);
  if (mysql_stmt_execute(statement)) refused(statement);
  fetch_all(statement);
  free(part);
  mysql_stmt_close(statement);
  mysql_close(one);
  end("20 MiB both ways, as long data");
}

static void prepared_statements(void) {
  make("DROP TABLE IF EXISTS p; CREATE TABLE p (n INT PRIMARY KEY, a VARCHAR(20)); INSERT INTO p VALUES (1, 'one'), (2, NULL), (3, 'three')");
  begin();
  MYSQL *one = open_one();
  MYSQL_STMT *statement = prepare(one, "SELECT * FROM p WHERE n >= ?");
  for (int n = 0; n < 5; n++) execute(statement, n), fetch_all(statement);
  end("prepared, executed often");
  begin();
  const char *changes[] = {"DO 1", "ALTER TABLE p ADD b DOUBLE DEFAULT 1.5", "ALTER TABLE p MODIFY a TEXT", "DROP TABLE p"};
  for (int n = 0; n < 4; n++) {
    ask(one, changes[n]);
    execute(statement, 1);
    fetch_all(statement);
    mysql_stmt_free_result(statement);
  }
  end("prepared, table altered between");
  begin();
  fprintf(out, "%d ", mysql_stmt_reset(statement));
  fprintf(out, "%d ", mysql_stmt_close(statement));
  ask(one, "SELECT 'next'");
  end("reset and closed");
  begin();
  MYSQL_STMT *all[200];
  for (int n = 0; n < 200; n++) {
    char sql[50];
    sprintf(sql, "SELECT ? + %d", n);
    all[n] = prepare(one, sql);
  }
  for (int turn = 0; turn < 2; turn++)
    for (int n = 0; n < 200; n++) execute(all[n], turn * 1000), fetch_all(all[n]);
  for (int n = 0; n < 200; n++) mysql_stmt_close(all[n]);
  end("200 prepared at once");
  mysql_close(one);
  make("DROP TABLE IF EXISTS d; CREATE TABLE d (n INT); INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
  for (unsigned long rows = 1; rows <= 1000; rows *= 10) {
    begin();
    one = open_one();
    statement = prepare(one, "SELECT a.n * 100 + b.n * 10 + c.n FROM d AS a, d AS b, d AS c WHERE a.n >= ? ORDER BY 1");
    unsigned long kind = CURSOR_TYPE_READ_ONLY;
    mysql_stmt_attr_set(statement, STMT_ATTR_CURSOR_TYPE, &kind);
    mysql_stmt_attr_set(statement, STMT_ATTR_PREFETCH_ROWS, &rows);
    execute(statement, 1);
    fprintf(out, "%d rows", fetch_all(statement));
    mysql_stmt_close(statement);
    mysql_close(one);
    char name[100];
    sprintf(name, "cursor of %lu rows", rows);
    end(name);
  }
}

static void several_results(void) {
  make("DROP PROCEDURE IF EXISTS two; DROP PROCEDURE IF EXISTS fails");
  make("CREATE PROCEDURE two(IN a INT) BEGIN SELECT a, 'one'; SELECT NULL AS x UNION SELECT a + 1; DO 1; END");
  make("CREATE PROCEDURE fails() BEGIN SELECT 'before'; SELECT * FROM missing; SELECT 'after'; END");
  make("DROP TABLE IF EXISTS s; CREATE TABLE s (n INT AUTO_INCREMENT PRIMARY KEY, a INT)");
  ONCE("CALL with two results", "CALL two(7)", "SELECT 'next'");
  ONCE("CALL with an error after a result", "CALL fails()", "SELECT 'next'");
  ONCE("several statements", "INSERT INTO s VALUES (NULL, 1), (NULL, 2); SELECT * FROM s; UPDATE s SET a = 3; SELECT a FROM s");
  ONCE("several statements, the second wrong", "SELECT 1; SELECT * FROM missing; SELECT 3", "SELECT 4");
  begin();
  MYSQL *one = open_one();
  MYSQL_STMT *statement = prepare(one, "CALL two(?)");
  execute(statement, 7);
  do fetch_all(statement);
  while (mysql_stmt_next_result(statement) == 0);
  mysql_stmt_close(statement);
  mysql_close(one);
  end("CALL, prepared");
  begin();
  one = open_one();
  fprintf(out, "%d ", mysql_set_server_option(one, MYSQL_OPTION_MULTI_STATEMENTS_OFF));
  ask(one, "SELECT 1; SELECT 2");
  fprintf(out, "%d ", mysql_set_server_option(one, MYSQL_OPTION_MULTI_STATEMENTS_ON));
  ask(one, "SELECT 1; SELECT 2");
  mysql_close(one);
  end("COM_SET_OPTION");
}

static void counts_and_transactions(void) {
  make("DROP TABLE IF EXISTS t; CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE) ENGINE=InnoDB");
  begin();
  MYSQL *one = open_one();
  fprintf(out, "%d ", mysql_autocommit(one, 0));
  ask(one, "INSERT INTO t (a) VALUES (1), (2)");
  ask(one, "SAVEPOINT x");
  ask(one, "INSERT INTO t (a) VALUES (2)");
  ask(one, "INSERT INTO t (a) VALUES (3)");
  ask(one, "ROLLBACK TO x");
  fprintf(out, "%d ", mysql_commit(one));
  ask(one, "DELETE FROM t");
  fprintf(out, "%d ", mysql_rollback(one));
  ask(one, "SELECT a, @@autocommit FROM t ORDER BY a");
  ask(one, "SELECT LAST_INSERT_ID()");
  mysql_close(one);
  end("transactions");
  ONCE("affected rows", "UPDATE t SET a = a", "UPDATE t SET a = 5 WHERE a = 2", "REPLACE INTO t (a) VALUES (5)", "SELECT ROW_COUNT()");
  once_with("affected rows as found rows", (struct settings){.found_rows = 1}, "UPDATE t SET a = a", NULL);
  ONCE("warnings", "SELECT 1/0", "SHOW WARNINGS", "DROP TABLE IF EXISTS missing", "SHOW WARNINGS", "SELECT 1", "SHOW WARNINGS");
  make("DROP TABLE IF EXISTS e; CREATE TABLE e (n INT NOT NULL PRIMARY KEY, a VARCHAR(10)); INSERT INTO e VALUES (1, 'one')");
  char path[4096], name[1100];
  snprintf(path, sizeof path, "%s/errors.sql", env("DB_SCENARIO"));
  FILE *errors = fopen(path, "r");
  if (!errors) perror(path), exit(1);
  for (char line[1000]; fgets(line, sizeof line, errors);) {
    line[strcspn(line, "\n")] = 0;
    snprintf(name, sizeof name, "error of %s", line);
    ONCE(name, line);
  }
  fclose(errors);
  once_with("login with a wrong password", (struct settings){.password = "wrong"}, NULL);
  once_with("login to an unknown schema", (struct settings){.schema = "missing"}, NULL);
}

static void streamed(const char *name, int rows_max) {
  begin();
  MYSQL *one = open_one();
  if (mysql_query(one, "SELECT a.n, b.n, REPEAT('x', c.n), NULL FROM d AS a, d AS b, d AS c, d AS e ORDER BY 1, 2, 3")) refusal(one);
  MYSQL_RES *result = mysql_use_result(one);
  int count = 0, size = 0;
  for (MYSQL_ROW row; result && count < rows_max && (row = mysql_fetch_row(result)); count++) size += strlen(row[2]);
  mysql_free_result(result);
  fprintf(out, "%d rows, %d characters; ", count, size);
  ask(one, "SELECT 'next'");
  mysql_close(one);
  end(name);
}

static void sessions(void) {
  const char *state = "SELECT DATABASE(), SUBSTRING_INDEX(USER(), '@', 1), @a, @@sql_mode = '', @@autocommit";
  for (int change = 0; change < 2; change++) {
    begin();
    MYSQL *one = open_one();
    ask(one, "SET @a = 1; SET sql_mode = ''; SET autocommit = 0");
    ask(one, state);
    if (change ? mysql_change_user(one, env("DB_OTHER_USER"), env("DB_OTHER_PASSWORD"), "information_schema") : mysql_reset_connection(one))
      refusal(one);
    else ask(one, state);
    mysql_close(one);
    end(change ? "change user" : "reset connection");
  }
  begin();
  MYSQL *one = open_one();
  fprintf(out, "%d %d %s %lu ", mysql_ping(one), mysql_select_db(one, "information_schema"), mysql_get_server_info(one), mysql_get_server_version(one));
  ask(one, state);
  fprintf(out, "%d ", mysql_select_db(one, "missing"));
  refusal(one);
  fprintf(out, "%d %s ", mysql_set_character_set(one, "latin1"), mysql_character_set_name(one));
  const char *statistics = mysql_stat(one);
  fprintf(out, "%d ", statistics && strncmp(statistics, "Uptime: ", 8) == 0);
  end("ping, schema, character set, statistics");
  begin();
  mysql_select_db(one, env("DB_NAME"));
  MYSQL_RES *fields = mysql_list_fields(one, "e", "%");
  if (fields) columns(fields), mysql_free_result(fields);
  else refusal(one);
  end("COM_FIELD_LIST");
  begin();
  MYSQL *other = open_one();
  if (mysql_kill(other, mysql_thread_id(one))) refusal(other);
  fprintf(out, "%s", mysql_ping(one) ? "it is gone" : "it is there");
  mysql_close(one), mysql_close(other);
  end("mysql_kill");
  begin();
  one = open_one();
  if (mysql_dump_debug_info(one)) refusal(one);
  end("COM_DEBUG");
  mysql_close(one);
}

static void transports(void) {
  make("DROP TABLE IF EXISTS f; CREATE TABLE f (n INT, a VARCHAR(20))");
  char load[5000];
  snprintf(load, sizeof load, "LOAD DATA LOCAL INFILE '%s/infile.csv' INTO TABLE f FIELDS TERMINATED BY ','", env("DB_SCENARIO"));
  once_with("LOAD DATA LOCAL INFILE", (struct settings){.infile = 1}, load, "SELECT * FROM f", NULL);
  once_with("LOAD DATA LOCAL INFILE, not allowed", (struct settings){0}, load, NULL);
  once_with("TLS", (struct settings){.ca = env("DB_CA"), .port = atoi(env("DB_TLS_PORT"))}, "SELECT REPEAT('t', 1000000)", NULL);
  once_with("compression", (struct settings){.compress = 1, .port = atoi(env("DB_COMPRESSION_PORT"))}, "SELECT REPEAT('c', 4000000)", NULL);
}

int main(void) {
  values();
  big_packets();
  several_results();
  prepared_statements();
  counts_and_transactions();
  streamed("streamed, 10,000 rows", 100000);
  streamed("streamed, read in part", 10);
  sessions();
  transports();
  return 0;
}
