/**
 * Files with records: each is there before its record and goes after the last one that names it, so no record is ever
 * without its file. What a crash between the two leaves is a file without a record, and a note of it (`asset-notes.ts`).
 */
import type { Readable } from 'node:stream'
import type { JsonObject } from '../../shared/json.ts'
import type { AssetFiles, ReceivedFile } from '../../storage/assets/asset-files.ts'
import type { Database, Origin, Session } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type AssetNote, forgetNote, noteFile } from './asset-notes.ts'

export interface PlacedFiles {
  /** Keeps a received file together with the record that `create` makes of its place. */
  keep<T>(
    file: ReceivedFile,
    create: (session: Session, place: string) => Promise<T>,
    origin?: Origin,
  ): Promise<T>
  /** Deletes what `remove` deletes of the record, and then its file unless another record names it. */
  release(
    record: JsonObject,
    remove: (session: Session) => Promise<boolean>,
    origin?: Origin,
  ): Promise<boolean>
  /** Deletes the noted file unless a record names it, then the note. */
  settle(note: AssetNote): Promise<void>
  read(record: JsonObject, range?: { readonly start: number; readonly end: number }): Readable
  /** Whether the record's file can be in this store: not if it came from a cluster with another one. */
  isPlaced(record: JsonObject): boolean
}

export function placedFiles(database: Database, files: AssetFiles): PlacedFiles {
  const inTurn = turnsOfContents()

  async function deleteFile(place: string): Promise<void> {
    // A place of the store that this cluster had before has nothing in this one.
    if (files.isPlace(place)) await files.delete(place)
  }

  /** Within the turn of the content. */
  async function settle(note: AssetNote): Promise<void> {
    const session = database.session()
    const inAssets = [term('file', note.place), term('sha256', note.place)]
    const users = await session.count(systemStorages.assets, { kind: 'or', queries: inAssets }, true)
    const images = await session.count(systemStorages.assetImages, term('file', note.place), true)
    if (users + images === 0) await deleteFile(note.place)
    await transact(database, (own) => forgetNote(own, note))
  }

  return {
    keep: (file, create, origin) =>
      inTurn(file.sha256, async () => {
        const place = files.placeOf(file)
        const note = await transact(database, (session) => noteFile(session, place))
        try {
          await files.keep(file)
          return await transact(
            database,
            async (session) => {
              const made = await create(session, place)
              await forgetNote(session, note)
              return made
            },
            origin,
          )
        } catch (error) {
          await settle(note).catch(leftToSweep)
          throw error
        }
      }),
    release: (record, remove, origin) =>
      inTurn(textIn(record.sha256), async () => {
        const note = await transact(
          database,
          async (session) => ((await remove(session)) ? noteFile(session, placeOf(record)) : undefined),
          origin,
        )
        if (note) await settle(note).catch(leftToSweep)
        return note !== undefined
      }),
    settle: (note) => inTurn(contentOf(note.place), () => settle(note)),
    read: (record, range) => files.read(placeOf(record), range),
    isPlaced: (record) => files.isPlace(placeOf(record)),
  }
}

/**
 * One piece of work on each content after the other: a file must not go while another record begins to use it. Enough on
 * several nodes too: where they share files, each record has its own.
 */
function turnsOfContents(): <T>(sha256: string, work: () => Promise<T>) => Promise<T> {
  /** The last piece of work on each content. */
  const turns = new Map<string, Promise<unknown>>()
  return (sha256, work) => {
    const next = (turns.get(sha256) ?? Promise.resolve()).then(work, work)
    turns.set(sha256, next)
    const over = () => {
      if (turns.get(sha256) === next) turns.delete(sha256)
    }
    next.then(over, over)
    return next
  }
}

/** The note is still there then. */
function leftToSweep(): void {}

/** The SHA-256 that each place has in it: the turn that uploads of the same content take. */
function contentOf(place: string): string {
  return /[0-9a-f]{64}/.exec(place)?.[0] ?? place
}

/** Records of before there was `file` have their bytes under the hash. */
export function placeOf(record: JsonObject): string {
  return typeof record.file === 'string' ? record.file : textIn(record.sha256)
}

function term(field: string, value: string) {
  return { kind: 'term', field, value } as const
}
