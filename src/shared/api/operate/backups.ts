import { Type } from 'typebox'
import type { Wire } from '../wire.ts'

export const backupParams = Type.Object({ name: Type.String({ description: 'Of the list.' }) })

const work = Type.Enum(['make', 'check', 'restore'])

const backupSchema = Type.Object({
  name: Type.String(),
  kind: Type.Enum(['hand', 'schedule'], { description: 'Who made it.' }),
  made: Type.Integer({ description: 'Unix seconds.' }),
  bytes: Type.Number(),
  files: Type.Integer(),
  version: Type.String({ description: 'Of Quoin.' }),
  checked: Type.Union(
    [
      Type.Object({
        at: Type.Integer({ description: 'Unix seconds.' }),
        problem: Type.String({ description: 'Empty: every checksum is right.' }),
      }),
      Type.Null(),
    ],
    { description: 'The last check; null where none was asked for. Making a backup checks its database.' },
  ),
})

export const backupsSchema = Type.Object({
  available: Type.Boolean({ description: 'Whether this server makes backups: on the embedded database.' }),
  instead: Type.String({ description: 'What to do where it does not.' }),
  folder: Type.String({ description: 'Where they are, on the server.' }),
  running: Type.Union([
    Type.Object({
      work,
      name: Type.String(),
      began: Type.Integer({ description: 'Unix seconds.' }),
      done: Type.Number({ description: 'Bytes.' }),
      total: Type.Number({ description: 'Bytes, about; 0 before they are counted.' }),
    }),
    Type.Null(),
  ]),
  last: Type.Union(
    [
      Type.Object({
        work,
        name: Type.String(),
        ended: Type.Integer({ description: 'Unix seconds.' }),
        outcome: Type.Enum(['done', 'failed', 'cancelled']),
        message: Type.String({ description: 'What went wrong, or the folder that was restored into.' }),
      }),
      Type.Null(),
    ],
    { description: 'The last work since the start of the server.' },
  ),
  backups: Type.Array(backupSchema, { description: 'The newest first.' }),
  restored: Type.Array(
    Type.Object({
      name: Type.String(),
      backup: Type.String({ description: 'That it was made of; it may be gone.' }),
      restored: Type.Integer({ description: 'Unix seconds.' }),
    }),
    { description: 'Copies in `restored` beside the backups, the newest first.' },
  ),
})
export type BackupsState = Wire<typeof backupsSchema>
export type RestoredRecord = BackupsState['restored'][number]
export type BackupRecord = BackupsState['backups'][number]

export const backupFileResponse = {
  description: 'A tar file of a folder with the name of the backup.',
  content: { 'application/x-tar': { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }) } },
}

export const begunBackupSchema = Type.Object({
  name: Type.String(),
  folder: Type.String({ description: 'That it is made in or restored into, on the server.' }),
})
