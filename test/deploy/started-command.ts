import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface StartedCommand {
  /** `http://127.0.0.1:<port>` */
  readonly address: string
  /** Sends SIGTERM and resolves to the exit code. */
  end(): Promise<number | null>
}

/** Starts a command that prints its address when it is ready; throws with what it printed if it ends before. */
export async function startCommand(
  words: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<StartedCommand> {
  const [command = '', ...rest] = words
  const child = spawn(command, rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  const printed: string[] = []
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk.toString()))
  for await (const line of createInterface({ input: child.stderr })) {
    printed.push(`${line}\n`)
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (address === undefined) continue
    child.stderr.resume()
    return { address, end: () => endOf(child, ended) }
  }
  throw new Error(`${words.join(' ')} ended before it listened:\n${printed.join('')}`)
}

async function endOf(child: ChildProcess, ended: Promise<unknown[]>): Promise<number | null> {
  child.kill('SIGTERM')
  await ended
  return child.exitCode
}
