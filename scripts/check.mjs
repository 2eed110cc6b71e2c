// `npm run check`: all scripts of package.json that begin with `check:`, at once. Each says its own in one piece.
// `npm test` runs it with `--without check:house`, because its suites are among those that it runs next.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'))

/** Resolves to the exit code; what was printed is printed at the end. `npm run` has put the commands on the path. */
function run([name, command]) {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(printed))
      if (code !== 0) console.error(`npm run ${name}: ended with ${code ?? 'a signal'}`)
      resolve(code ?? 1)
    })
  })
}

const left = process.argv[2] === '--without' ? process.argv[3] : undefined
const checks = Object.entries(scripts).filter(([name]) => name.startsWith('check:') && name !== left)
const codes = await Promise.all(checks.map(run))
process.exitCode = checks.length === 0 || codes.some((code) => code !== 0) ? 1 : 0
