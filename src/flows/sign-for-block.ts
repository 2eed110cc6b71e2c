/** Signs a request for a deployed block that checks signatures, with the secret that the block names. */

import { type SigningSettings, signRequest } from '../blocks/http/sign-request.ts'
import { readSettings } from '../blocks/pins/read-settings.ts'
import type { AuditLog } from '../records/audit-log.ts'
import type { Block } from '../shared/blueprint.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonValue } from '../shared/json.ts'
import { transact } from '../storage/transact.ts'
import type { Flows } from './flows.ts'
import { getVersion } from './live/versions.ts'

interface Asked {
  readonly blueprint: string
  readonly block: string
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly body?: string
}

type By = { readonly guid: string; readonly username: string }

/** CONFLICT where the blueprint is not active, and where the block has its signature elsewhere than in a header. */
export async function signedForBlock(
  flows: Flows,
  audit: Pick<AuditLog, 'record'>,
  asked: Asked,
  by: By,
): Promise<Readonly<Record<string, string>>> {
  const { live, records, secrets, environment } = flows
  const found = live.table().blueprints.get(asked.blueprint)
  if (!found)
    throw new QuoinError('CONFLICT', 'The blueprint is not active. Activate it to sign its requests.')
  const { blocks } = await getVersion(records, asked.blueprint, found.deployment)
  const block = blocks.find(({ guid, type }) => guid === asked.block && type === 'check_signature')
  if (!block) throw new QuoinError('NOT_FOUND', 'The deployed blueprint has no such block "Check signature".')
  const name = secretOf(block)
  const opened = secrets.open(name)
  if ('problem' in opened) throw new QuoinError('CONFLICT', `The block ${opened.problem}.`)
  const settings = settingsOf(block, flows)
  const body = Buffer.from(asked.body ?? '')
  const request = { ...requestOf(asked), body: parsed(asked.body ?? '') }
  const signing = { secret: opened.value, now: records.clock(), publicUrl: environment.publicUrl }
  const signed = signRequest(settings, request, body, signing)
  if ('problem' in signed)
    throw new QuoinError('CONFLICT', `The request cannot be signed: ${signed.problem}.`)
  const { method, path, blueprint } = asked
  const after = {
    purpose: 'signature',
    blueprint,
    block: asked.block,
    method,
    path: path.split('?', 1)[0] ?? '',
  }
  const use = { category: 'secrets', action: 'used', guid: secrets.guidOf(name) ?? '', name } as const
  await transact(records.database, (session) => audit.record(session, { ...use, before: undefined, after }), {
    user: by,
  })
  return signed.headers
}

/** The block names it itself, and reads its signature from the request alone. */
function secretOf({ in_pins: pins }: Block): string {
  const own = pins.find(({ id }) => ['signature', 'signed', 'time'].includes(id))
  if (own)
    throw new QuoinError('CONFLICT', `The block reads the ${own.id} of the flow. Sign the request by hand.`)
  const secret = pins.find(({ id }) => id === 'secret')?.value
  if (typeof secret === 'string') return secret
  throw new QuoinError('CONFLICT', 'The block names no secret itself. Sign the request by hand.')
}

function settingsOf({ type, fields }: Block, { catalogue }: Flows): SigningSettings {
  const values: Readonly<Record<string, unknown>> = readSettings(
    catalogue.get(type)?.settings ?? {},
    fields,
  ).values
  const text = (name: string) => {
    const value = values[name]
    return typeof value === 'string' ? value : ''
  }
  return {
    ...{ sender: text('sender'), header: text('header'), prefix: text('prefix'), signed: text('signed') },
    ...{ algorithm: text('algorithm'), encoding: text('encoding') },
    ...{ timestamp_header: text('timestamp_header'), secret_encoding: text('secret_encoding') },
  }
}

function requestOf({ method, path }: Asked) {
  const words = new URL(path, 'http://localhost').searchParams
  const query = Object.fromEntries(
    [...new Set(words.keys())].map((name) => {
      const all = words.getAll(name)
      return [name, all.length === 1 ? (all[0] ?? '') : all]
    }),
  )
  const headers = { 'content-type': 'application/json' }
  return { method, url: path, headers, ip: '', query, path: {}, user: undefined }
}

function parsed(body: string): JsonValue | undefined {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
