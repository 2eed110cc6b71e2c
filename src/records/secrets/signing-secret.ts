/** A secret that all nodes share, for what this cluster signs for itself: tokens of forms and addresses of files. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../shared/guid.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Database } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'

const key = 'pages'
const BYTES = 32

export interface SigningSecret {
  /** 43 characters, `A–Z a–z 0–9 - _`. `purpose` keeps signatures for one thing from counting for another. */
  sign(purpose: string, text: string): string
  verify(purpose: string, text: string, signature: string): boolean
}

/** Reads the secret, or makes it: one node at a time. */
export async function openSigningSecret(database: Database, random: Random): Promise<SigningSecret> {
  await database.ensure(ownStorages.pageSecrets, { indexes: [{ fields: ['key'], unique: true }] })
  const secret = await database.capabilities.alone('page secret', async () => {
    const known = await findOne(database.session(), ownStorages.pageSecrets, 'key', key)
    if (known) return Buffer.from(textIn(known.secret), 'base64url')
    const bytes = Buffer.alloc(BYTES)
    random(bytes)
    const fields = { key, secret: bytes.toString('base64url') }
    await transact(database, async (session) => session.create(ownStorages.pageSecrets, setFields(fields)))
    return bytes
  })
  if (secret.length < BYTES)
    throw new Error(`The storage ${ownStorages.pageSecrets} holds a secret that is too short.`)
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([purpose, text]))
      .digest('base64url')
  return {
    sign,
    verify(purpose, text, signature) {
      const [wanted, given] = [Buffer.from(sign(purpose, text)), Buffer.from(signature)]
      return wanted.length === given.length && timingSafeEqual(wanted, given)
    },
  }
}
