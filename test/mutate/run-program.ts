import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** What `npm run mutate` prints and ends with. */
export async function runProgram(...options: readonly string[]): Promise<{ code: number; output: string }> {
  const program = fileURLToPath(new URL('mutate.ts', import.meta.url))
  const child = spawn(process.execPath, [program, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
  return { output: await text(child.stdout), code: await ended }
}
