#!/usr/bin/env node
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Terminal } from './cli/command.ts'
import { runCommand } from './cli/run-command.ts'
import { readOptions } from './options/options.ts'

async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) return line
  return ''
}

/** Asks on the standard error; what is typed is written nowhere. */
async function askSecret(prompt: string): Promise<string> {
  process.stderr.write(prompt)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  lines.once('SIGINT', () => process.exit(130))
  const typed = await new Promise<string>((resolve) => {
    lines.once('line', resolve)
    lines.once('close', () => resolve(''))
  })
  lines.close()
  process.stderr.write('\n')
  return typed
}

const terminal: Terminal = {
  options: () => readOptions(),
  print: (text) => console.log(text),
  complain: (text) => console.error(text),
  announce: (text) => (process.stdout.isTTY ? console.log(text) : console.error(text)),
  ...(process.stderr.isTTY && { redraw: (line: string) => void process.stderr.write(`\r\u001b[2K${line}`) }),
  readLine,
  readSecret: (prompt) => (process.stdin.isTTY ? askSecret(prompt) : readLine()),
  clock: Date.now,
  random: (bytes) => void crypto.getRandomValues(bytes),
}

// Not exit(): what was written to a pipe may still be on its way.
process.exitCode = await runCommand(process.argv.slice(2), terminal)
