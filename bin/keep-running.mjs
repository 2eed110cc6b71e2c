/**
 * Keeps a program running in a process of its own: it is started again when its watchdog or an exception that nothing handles has
 * ended it (code 70, or SIGALRM where it was stuck in native code), after a pause that grows while it does not live for a minute. Everything else ends
 * this process as it ended that one. systemd, Docker and Kubernetes start it again themselves.
 *
 * Signals are handed on. One that a terminal sends to the whole group arrives twice then, which `run-start.ts` knows.
 */
import { spawn } from 'node:child_process'
import { leanMemory } from './lean-memory.mjs'

const STUCK_EXIT = 70
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
const GREW_OLD_MS = 60_000

export function keepRunning(program, words, firstPause = FIRST_PAUSE_MS) {
  let child
  let stopping = false
  for (const signal of SIGNALS)
    process.on(signal, () => {
      stopping = true
      // Between two processes there is nothing to finish.
      if (child?.exitCode === null && child.signalCode === null) child.kill(signal)
      else process.exit(0)
    })

  function start(pause) {
    const began = performance.now()
    // Without the flags of this process: `-e` among them would start this again, and that again.
    child = spawn(process.execPath, [program, ...words], {
      stdio: 'inherit',
      env: { ...leanMemory, ...process.env },
    })
    child.once('error', (error) => {
      console.error(`Quoin could not be started: ${error.message}`)
      process.exit(1)
    })
    child.once('exit', (code, signal) => {
      if (stopping || (code !== STUCK_EXIT && signal !== 'SIGALRM')) {
        for (const name of SIGNALS) process.removeAllListeners(name)
        process.exitCode = code ?? 1
        if (signal !== null) process.kill(process.pid, signal)
        return
      }
      const wait = performance.now() - began > GREW_OLD_MS ? firstPause : pause
      console.error(`Quoin has ended (${signal ?? `code ${code}`}). It starts again in ${wait / 1000} s.`)
      setTimeout(() => start(Math.min(2 * wait, LONGEST_PAUSE_MS)), wait)
    })
  }

  start(firstPause)
}
