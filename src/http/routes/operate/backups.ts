import { Readable } from 'node:stream'
import type { AuditLog } from '../../../records/audit-log.ts'
import type { Backups } from '../../../records/backups/backups.ts'
import type { Actor } from '../../../records/records.ts'
import {
  backupFileResponse,
  backupParams,
  backupsSchema,
  begunBackupSchema,
} from '../../../shared/api/operate/backups.ts'
import { type ErrorCode, QuoinError } from '../../../shared/errors.ts'
import type { Database } from '../../../storage/database.ts'
import { transact } from '../../../storage/transact.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'

const tags = ['Backups']
const errors: readonly ErrorCode[] = ['CONFLICT']
const INSTEAD =
  'The data is in PostgreSQL: back it up with pg_dump or your provider, and copy the bucket of QUOIN_ASSETS_URL.'

interface BackupParts {
  readonly audit: AuditLog
  readonly database: Database
}

/** Backups of the running server. They are made in a thread: a reply says what has begun, and the list how far it is. */
export function backupRoutes(backups: Backups | undefined, parts: BackupParts): RouteFamily {
  const shared = sharedParts(backups, parts)
  return (app) => {
    listBackupsRoute(app, shared)
    makeBackupRoute(app, shared)
    checkBackupRoute(app, shared)
    restoreBackupRoute(app, shared)
    cancelBackupRoute(app, shared)
    downloadBackupRoute(app, shared)
    removeRestoredBackupRoute(app, shared)
    removeBackupRoute(app, shared)
  }
}

type SharedParts = ReturnType<typeof sharedParts>

/** What the routes share. */
function sharedParts(backups: Backups | undefined, { audit, database }: BackupParts) {
  const present = () => {
    if (backups) return backups
    throw new QuoinError('CONFLICT', INSTEAD)
  }
  const state = async () => ({
    available: backups !== undefined,
    instead: backups ? '' : INSTEAD,
    folder: backups?.folder ?? '',
    running: backups?.running() ?? null,
    last: backups?.last() ?? null,
    restored: [...((await backups?.restored()) ?? [])],
    backups: ((await backups?.list()) ?? []).map((one) => ({ ...one, checked: one.checked ?? null })),
  })
  const note = (by: Actor, action: 'created' | 'exported' | 'deleted', name: string) =>
    transact(
      database,
      (session) =>
        audit.record(session, {
          ...{ category: 'backups', action, guid: '', name },
          before: action === 'deleted' ? {} : undefined,
          after: action === 'deleted' ? undefined : {},
        }),
      { user: by },
    )
  return { present, state, note }
}

function listBackupsRoute(app: App, { state }: SharedParts): void {
  app.get(
    '/_system/backups',
    {
      config: { permission: 'backups_view', entityTag: false },
      schema: {
        operationId: 'listBackups',
        summary: 'List backups, with the work that runs',
        tags,
        response: { 200: backupsSchema },
      },
    },
    state,
  )
}

function makeBackupRoute(app: App, { present, note }: SharedParts): void {
  app.post(
    '/_system/backups',
    {
      config: { permission: 'backups_create', errors },
      schema: {
        operationId: 'makeBackup',
        summary: 'Make a backup',
        description:
          'Begins one, of every write that was acknowledged before. CONFLICT while another one is made, checked or restored, with 20 made by hand, and on PostgreSQL.',
        tags,
        response: { 200: begunBackupSchema },
      },
    },
    async (request) => {
      const running = present()
      const name = await running.make('hand')
      await note(actorOf(request), 'created', name)
      return { name, folder: `${running.folder}/${name}` }
    },
  )
}

function checkBackupRoute(app: App, { present }: SharedParts): void {
  app.post(
    '/_system/backups/:name/check',
    {
      config: { permission: 'backups_create', errors },
      schema: {
        operationId: 'checkBackup',
        summary: 'Check a backup',
        description: 'Begins to compare every checksum and to check the pages of the database.',
        tags,
        params: backupParams,
        response: { 200: begunBackupSchema },
      },
    },
    async ({ params: { name } }) => {
      const running = present()
      await running.check(name)
      return { name, folder: `${running.folder}/${name}` }
    },
  )
}

function restoreBackupRoute(app: App, { present, note }: SharedParts): void {
  app.post(
    '/_system/backups/:name/restore',
    {
      config: { permission: 'backups_create', confirmed: true, errors },
      schema: {
        operationId: 'restoreBackup',
        summary: 'Restore a backup into a new folder',
        description:
          'Copies it into a new folder beside the backups, after checking every checksum; never over the data of a server. Start a server with `QUOIN_DATA` set to that folder. At most three such folders are kept.',
        tags,
        params: backupParams,
        response: { 200: begunBackupSchema },
      },
    },
    async (request) => {
      const { name } = request.params
      const folder = await present().restore(name)
      await note(actorOf(request), 'exported', name)
      return { name, folder }
    },
  )
}

function cancelBackupRoute(app: App, { present, state }: SharedParts): void {
  app.delete(
    '/_system/backups/running',
    {
      config: { permission: 'backups_remove', errors },
      schema: {
        operationId: 'cancelBackup',
        summary: 'Cancel what runs',
        description: 'Ends it and deletes what it had copied. Without work under way nothing changes.',
        tags,
        response: { 200: backupsSchema },
      },
    },
    async () => {
      await present().cancel()
      return state()
    },
  )
}

function downloadBackupRoute(app: App, { present, note }: SharedParts): void {
  app.get(
    '/_system/backups/:name/download',
    {
      config: { permission: 'backups_download', confirmed: true, entityTag: false, errors },
      schema: {
        operationId: 'downloadBackup',
        summary: 'Download a backup',
        description:
          'All of it as a tar file, which is read while it is sent. Unpacked it is a folder that `quoin restore` takes. At most two at once.',
        tags,
        params: backupParams,
        response: { 200: backupFileResponse },
      },
    },
    async (request, reply) => {
      const { name } = request.params
      const isHead = request.method === 'HEAD'
      const content = await present().download(name)
      try {
        if (isHead) content.destroy()
        // Before the first byte, so that nothing leaves without its record.
        else await note(actorOf(request), 'exported', name)
      } catch (error) {
        content.destroy()
        throw error
      }
      // A name of the list holds digits and letters only.
      return reply
        .type('application/x-tar')
        .header('content-disposition', `attachment; filename="quoin-${name}.tar"`)
        .send(isHead ? Readable.from([], { objectMode: false }) : content)
    },
  )
}

function removeRestoredBackupRoute(app: App, { present, note, state }: SharedParts): void {
  app.delete(
    '/_system/backups/restored/:name',
    {
      config: { permission: 'backups_remove', confirmed: true, errors },
      schema: {
        operationId: 'removeRestoredBackup',
        summary: 'Delete a restored copy',
        description: 'Permanently, but never one that a server runs on. The backup stays.',
        tags,
        params: backupParams,
        response: { 200: backupsSchema },
      },
    },
    async (request) => {
      const { name } = request.params
      await present().removeRestored(name)
      await note(actorOf(request), 'deleted', `restored/${name}`)
      return state()
    },
  )
}

function removeBackupRoute(app: App, { present, note, state }: SharedParts): void {
  app.delete(
    '/_system/backups/:name',
    {
      config: { permission: 'backups_remove', confirmed: true, errors },
      schema: {
        operationId: 'removeBackup',
        summary: 'Delete a backup',
        description: 'Permanently.',
        tags,
        params: backupParams,
        response: { 200: backupsSchema },
      },
    },
    async (request) => {
      const { name } = request.params
      await present().remove(name)
      await note(actorOf(request), 'deleted', name)
      return state()
    },
  )
}
