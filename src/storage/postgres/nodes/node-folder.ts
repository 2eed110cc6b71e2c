/**
 * Whether the node that ran from this folder before is certainly dead, so that no node has to wait for its lease.
 *
 * A lease is for nodes that may be alive: cut off, frozen, slow. A name proves nothing, two nodes can have the same. The
 * proof is a file that the kernel keeps locked for as long as the process lives: the lock ends with kill -9 and stays while
 * the process is frozen. A process that gets the lock knows that the node whose guid is in the file has ended. This counts
 * only on the machine where the file was written and until its next boot (boot id), because the locks of another kernel are
 * not visible on a local disk, and not reliably on a network disk. In all other cases the lease decides.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface NodeFolder {
  /** Guid of the node that was here and has ended; undefined if that is unknown. */
  readonly ended: string | undefined
  /** Lets go of the folder; to be called when the node has left the cluster. */
  close(): void
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id'

/** `guid`: this node's, to be found by the next one. Never fails: without the file everything is as safe, and slower. */
export async function openNodeFolder(directory: string, guid: string): Promise<NodeFolder> {
  let file: DatabaseSync | undefined
  try {
    const boot = (await readFile(BOOT_ID, 'utf8')).trim()
    await mkdir(directory, { recursive: true })
    file = new DatabaseSync(join(directory, 'node.db'))
    // Needs no disk: after a power cut the boot id differs, and nothing in the file counts.
    file.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF;
      BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS node (guid TEXT NOT NULL, boot TEXT NOT NULL)`)
    const before = file.prepare('SELECT guid FROM node WHERE boot = ?').get(boot)
    file.exec('DELETE FROM node')
    file.prepare('INSERT INTO node VALUES (?, ?)').run(guid, boot)
    file.exec('COMMIT')
    const opened = file
    return {
      ended: typeof before?.guid === 'string' ? before.guid : undefined,
      close: () => opened.close(),
    }
  } catch {
    // Another process has it, the disk is full, or this is no Linux.
    file?.close()
    return { ended: undefined, close: () => undefined }
  }
}
