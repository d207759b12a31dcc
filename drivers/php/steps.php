<?php
// How a step is run and printed: one line each, `name<TAB>result`. What a server refuses is part of a result; anything
// else that is thrown makes it begin with `raised `, which fails the step.
declare(strict_types=1);

const BIG_BYTES = 20 << 20;

function env(string $name): string
{
    return (string) getenv($name);
}

function lines(string $name): array
{
    return array_filter(explode("\n", file_get_contents(env('DB_SCENARIO') . "/$name")), 'strlen');
}

function step(string $name, callable $run): void
{
    try {
        $result = $run();
    } catch (mysqli_sql_exception | PDOException $error) {
        $result = refusal($error);
    } catch (Throwable $error) {
        $result = 'raised ' . get_class($error) . ': ' . $error->getMessage() . ' at line ' . $error->getLine();
    }
    $text = is_string($result) ? $result : var_export($result, true);
    $text = preg_replace('/\n */', ' ', str_replace('\\', '\\\\', $text));
    fwrite(STDOUT, $name . "\t" . strtr($text, ["\t" => '\t', "\r" => '\r']) . "\n");
}

function refusal(Throwable $error): string
{
    if ($error instanceof PDOException) {
        $info = $error->errorInfo ?? [$error->getCode()];
        return 'error ' . json_encode($info, JSON_INVALID_UTF8_SUBSTITUTE) . ($error->errorInfo ? '' : $error->getMessage());
    }
    return "error {$error->getCode()} ({$error->getSqlState()}): {$error->getMessage()}";
}

function digest(?string $text): string
{
    return $text === null ? 'null' : strlen($text) . ' bytes, ' . md5($text);
}

function big(): string
{
    return str_repeat('0123456789abcdef', intdiv(BIG_BYTES, 16));
}
