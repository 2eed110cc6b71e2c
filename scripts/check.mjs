// What `npm run check` runs: all at once, and each says its own in one piece. Fails when one does.
import { spawn } from 'node:child_process'

const checks = [
  'biome ci --colors=off --diagnostic-level=warn --error-on-warnings .',
  'tsc --noEmit',
  'tsc --noEmit -p src/studio',
  'tsc --noEmit -p src/pages/browser',
  'knip',
]

/** Resolves to the exit code; what was printed is printed at the end. `npm run` has put the commands on the path. */
function run(command) {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(printed))
      if (code !== 0) console.error(`${command}: ended with ${code ?? 'a signal'}`)
      resolve(code ?? 1)
    })
  })
}

const codes = await Promise.all(checks.map(run))
process.exitCode = codes.some((code) => code !== 0) ? 1 : 0
