/** The part of `docs/reliability.md` about damaged files of the embedded database. Each row is a test of `npm run test:all`. */
export const damageSection = `## Damaged files of the embedded database

Each row is a test on real files, part of \`npm run test:all\`, that fails without the protection.

| Fault | Promise | Command: \`npx vitest run …\` |
| --- | --- | --- |
| A file is missing, cut off or damaged at the start | Quoin does not start; the message names the file and what to do; nothing is changed | \`src/storage/sqlite/core/check-files.test.ts\` |
| A damaged page is read while Quoin runs | Writes are refused with 503, \`/health/ready\` replies 503 \`damaged\`, the log names the file; readable data is served | \`src/storage/sqlite/core/check-files.test.ts\` |
| The search thread reads it | The same | \`src/storage/sqlite/core/damaged-reads.test.ts\` |

Quoin does not check the whole database at the start or in the background, because that reads every page. A damaged page that
is never read stays unnoticed until a backup: \`quoin backup <folder>\` reads and checks every page (\`PRAGMA quick_check\`), also
while the server runs, and fails with exit code 1 when it finds damage. Run it on a schedule.
`
