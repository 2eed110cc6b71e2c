/**
 * What PostgreSQL says on some channels, on a connection of its own: LISTEN belongs to a connection, so this one goes past
 * a pooler. It may be lost at any time, and messages with it, so each listener also polls now and then.
 */

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { openPool, STATEMENT_MS } from '../core/open-pool.ts'
import { storageError } from '../core/postgres-errors.ts'
import type { PostgresConnection } from '../core/rows.ts'

export interface Notifications {
  close(): Promise<void>
}

const RETRY_MS = 500

/** `heard` is called with each message and its channel, and with undefined once it listens again after it did not. Never fails. */
export function openNotifications(
  url: string,
  channels: readonly string[],
  heard: (channel: string | undefined, message?: string) => void,
): Notifications {
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let connecting: Promise<void> = Promise.resolve()

  function again(): void {
    client = undefined
    if (!closed) timer = setTimeout(connect, RETRY_MS)
  }

  function connect(): void {
    const next = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true })
    client = next
    let over = false
    const lost = () => {
      if (over) return
      over = true
      next.end().catch(() => undefined)
      again()
    }
    next.on('error', lost)
    next.on('end', lost)
    next.on('notification', ({ channel, payload }) => heard(channel, payload))
    connecting = (async () => {
      await next.connect()
      // The names are our own constants.
      for (const channel of channels) await next.query(`LISTEN ${channel}`)
      heard(undefined)
    })().catch(lost)
  }

  connect()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      const last = client
      await connecting
      await last?.end().catch(() => undefined)
    },
  }
}

/**
 * The connection on which a node follows the changes and renews its lease, and nothing else: neither a long search nor
 * a write that waits keeps it. It goes past a pooler, as that for messages does.
 *
 * It writes also where `default_transaction_read_only` is on, which managed servers set while their disk is nearly full:
 * the lease is one row of a few hundred bytes, and without it the node could not even answer what it has in memory. On
 * a standby it cannot, so a node whose primary was demoted stops answering.
 */
interface LeaseConnection extends PostgresConnection {
  close(): Promise<void>
}

export function openLeaseConnection(url: string): LeaseConnection {
  const pool = openPool({
    url,
    most: 1,
    pooled: false,
    statementMs: STATEMENT_MS,
    settings: { default_transaction_read_only: 'off' },
  })

  async function ask(text: string, values: readonly unknown[] = []) {
    try {
      return await pool.query(text, [...values])
    } catch (error) {
      throw storageError(error)
    }
  }

  return {
    rows: async (text, values) => (await ask(text, values)).rows,
    run: async (text, values) => (await ask(text, values)).rowCount ?? 0,
    close: () => pool.end(),
  }
}

/**
 * Whether the node that ran from this folder before is certainly dead, so that no node has to wait for its lease.
 *
 * A lease is for nodes that may be alive: cut off, frozen, slow. A name proves nothing, two nodes can have the same. The
 * proof is a file that the kernel keeps locked for as long as the process lives: the lock ends with kill -9 and stays while
 * the process is frozen. A process that gets the lock knows that the node whose guid is in the file has ended. This counts
 * only on the machine where the file was written and until its next boot (boot id), because the locks of another kernel are
 * not visible on a local disk, and not reliably on a network disk. In all other cases the lease decides.
 */
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
