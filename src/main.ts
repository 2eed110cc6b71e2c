#!/usr/bin/env node
import { createInterface } from 'node:readline/promises'
import type { Terminal } from './cli/command.ts'
import { runCommand } from './cli/run-command.ts'
import { readOptions } from './options.ts'

const terminal: Terminal = {
  options: () => readOptions(),
  print: (text) => console.log(text),
  complain: (text) => console.error(text),
  announce: (text) => (process.stdout.isTTY ? console.log(text) : console.error(text)),
  ...(process.stderr.isTTY && { redraw: (line: string) => void process.stderr.write(`\r\u001b[2K${line}`) }),
  async readLine() {
    const lines = createInterface({ input: process.stdin })
    for await (const line of lines) return line
    return ''
  },
  clock: Date.now,
  random: (bytes) => void crypto.getRandomValues(bytes),
}

// Not exit(): what was written to a pipe may still be on its way.
process.exitCode = await runCommand(process.argv.slice(2), terminal)
