// One set-up of a checkout at a time. Runs on any Node from 18 and has no dependencies, like scripts/setup.mjs.
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const RETRY_MS = 50
/** Two starts with nothing to do are over before this, and say nothing. */
const SILENT_MS = 300

/**
 * Takes the lock of a checkout until this process ends, and waits while another process has it. The lock is the folder
 * `setup.lock` with one file, whose name is the process id of its holder. A holder that was killed is replaced: its file is
 * removed by that name, so that a process that took the lock meanwhile keeps it.
 *
 * @param folder which git ignores; it is made where it is missing
 */
export async function takeSetupLock(folder) {
  const lock = join(folder, 'setup.lock')
  const own = `${lock}.${process.pid}`
  try {
    mkdirSync(own, { recursive: true })
  } catch (error) {
    // Where nothing can be written, nothing can be installed or built either.
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return
    throw error
  }
  writeFileSync(join(own, String(process.pid)), '')
  const began = Date.now()
  let hasSaid = false
  try {
    while (!isTaken(own, lock)) {
      const holder = holderOf(lock)
      if (holder === undefined || !isRunning(holder)) {
        removeLock(lock, holder)
        continue
      }
      if (!hasSaid && Date.now() - began >= SILENT_MS) {
        console.log(`Waiting for another set-up of this checkout (process ${holder}) …`)
        hasSaid = true
      }
      await wait(RETRY_MS)
    }
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
  process.once('exit', () => removeLock(lock, process.pid))
}

/** A rename to a folder that holds a file is refused, on every system: only one process succeeds. */
function isTaken(own, lock) {
  return succeeds(() => renameSync(own, lock), ['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES'])
}

/** undefined: the lock was released meanwhile, or is just being released. */
function holderOf(lock) {
  let names = []
  succeeds(() => {
    names = readdirSync(lock)
  }, ['ENOENT'])
  return names.length === 0 ? undefined : Number(names[0])
}

function isRunning(pid) {
  // EPERM: it runs, as another user.
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}

function removeLock(lock, holder) {
  if (holder !== undefined) rmSync(join(lock, String(holder)), { force: true })
  // Only an empty folder goes: another process may have the lock by now.
  succeeds(() => rmdirSync(lock), ['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'])
}

/** Whether it was done; false for an error with one of these codes. */
function succeeds(work, codes) {
  try {
    work()
    return true
  } catch (error) {
    if (codes.includes(error.code)) return false
    throw error
  }
}
