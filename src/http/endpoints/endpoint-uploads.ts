/**
 * Files of a request to an endpoint. They wait while the request is checked, become assets when its flow starts, and are
 * deleted again when the flow refuses the request: when it fails, or replies with a status of 400 or more. Those of a process
 * that is killed meanwhile are deleted a day later: see `records/assets/temporary-uploads.ts`.
 *
 * They are private files as those of forms of pages: see `records/assets/page-uploads.ts`.
 */
import type { RunEnd, RunFlow, RunStart } from '../../flows/run/run-start.ts'
import { type Assets, assetType } from '../../records/assets/assets.ts'
import { errorOfField, removeFiles, safeName } from '../../records/assets/file-links.ts'
import { PAGE_UPLOADS } from '../../records/assets/page-uploads.ts'
import { TemporaryUploads } from '../../records/assets/temporary-uploads.ts'
import type { Actor } from '../../records/records.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import type { Database } from '../../storage/database.ts'
import type { SentParts } from './receive-parts.ts'

export interface UploadServices {
  readonly assets: Assets
  readonly database: Database
  readonly newGuid: () => string
}

/** The files of one request. */
export interface EndpointUploads {
  /** What the client sent, the same for the same files: guids differ each time. */
  readonly sent: JsonValue
  /** Runs the flow with the files in their places. */
  run(run: RunFlow, start: RunStart, by: Actor): Promise<RunEnd>
  /** Lets go of files that were not stored. */
  discard(): Promise<void>
}

async function namedFile({ field, name, type, file }: SentParts['files'][number], guid: string) {
  const value = { guid, name: safeName(name), type: await assetType(file, type), size: file.size }
  return { ...value, field, file }
}

/** The body as flows see it: texts, and for a file `{ guid, name, type, size }`; a name that comes twice has a list. */
export async function openUploads(
  { assets, database, newGuid }: UploadServices,
  { fields, files }: SentParts,
): Promise<{ readonly body: JsonObject; readonly uploads: EndpointUploads }> {
  const named = await Promise.all(files.map((part) => namedFile(part, newGuid())))
  const guids = named.map(({ guid }) => guid)

  async function store(by: Actor): Promise<void> {
    const made: string[] = []
    try {
      for (const { guid, name, type, field, file } of named) {
        await assets
          .create(file, { guid, name, type, directory: PAGE_UPLOADS, held: true }, by)
          .catch((error: unknown) => {
            throw errorOfField(field, error)
          })
        made.push(guid)
      }
    } catch (error) {
      await removeFiles(assets, made, by)
      throw error
    }
  }

  return {
    body: bodyOf([...fields, ...named.map(({ field, file: _, ...value }) => [field, value] as const)]),
    uploads: {
      sent: [fields, files.map(({ field, name, file }) => [field, name, file.sha256])],
      async run(run, start, by) {
        const held = new TemporaryUploads(database)
        await store(by)
        held.add(guids)
        let isRefused = false
        const end = await run({
          ...start,
          tracking: (session) => held.around(start.tracking ? start.tracking(session) : session),
          beforeReply(session, reply) {
            held.isRefused = reply.code >= 400
            return andThen(held.release(session), () => start.beforeReply?.(session, reply))
          },
          onReply(reply) {
            isRefused = reply.code >= 400
            start.onReply?.(reply)
          },
        })
        if (isRefused || (end.error && !end.replied)) await removeFiles(assets, guids, by)
        else await held.end()
        return end
      },
      async discard() {
        for (const { file } of files) await assets.files.discard(file)
      },
    },
  }
}

function bodyOf(parts: readonly (readonly [string, JsonValue])[]): JsonObject {
  const all = new Map<string, JsonValue[]>()
  for (const [name, value] of parts) all.set(name, [...(all.get(name) ?? []), value])
  return Object.fromEntries(
    [...all].map(([name, values]) => [name, values.length > 1 ? values : (values[0] ?? null)]),
  )
}
