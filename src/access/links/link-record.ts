/**
 * Links as `_account_links` keeps them: `{ kind, user_guid, email_key, email, language, link_hash, expiry, invitation? }`, `expiry` in
 * Unix seconds. A link of a user who signs up has no user yet. Each mail has a link of its own: a mail that is sent twice
 * has two, and the first that is used deletes both.
 */
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Session } from '../../storage/database.ts'
import { guidOf, numberIn, textIn } from '../../storage/document-fields.ts'
import { findAll, findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'

export type LinkKind = 'reset' | 'invite' | 'signup'

export interface LinkRecord {
  readonly kind: LinkKind
  /** Empty for a user who signs up. */
  readonly userGuid: string
  readonly email: string
  /** Folded: how addresses are compared. */
  readonly emailKey: string
  readonly language: string
  /** Which invitation of its user: the link of one that was withdrawn or renewed does not work. */
  readonly invitation: string
}

const PAGE = 100

/** Expired links are purged with other documents that expire. */
export async function createLink(
  session: Session,
  link: LinkRecord & { readonly hash: string; readonly expiry: number },
): Promise<void> {
  const { kind, userGuid, email, emailKey, language, invitation, hash, expiry } = link
  const fields = {
    ...{ kind, user_guid: userGuid, email, email_key: emailKey, language, link_hash: hash, expiry },
    ...(invitation !== '' && { invitation }),
  }
  await session.create(systemStorages.accountLinks, setFields(fields), { expiry })
}

export async function findLink(session: Session, hash: string, now: number): Promise<LinkRecord | undefined> {
  const record = await findOne(session, systemStorages.accountLinks, 'link_hash', hash)
  if (!record || numberIn(record.expiry) <= now) return undefined
  const kind = kindIn(record)
  return (
    kind && {
      kind,
      userGuid: textIn(record.user_guid),
      email: textIn(record.email),
      emailKey: textIn(record.email_key),
      language: textIn(record.language),
      invitation: textIn(record.invitation),
    }
  )
}

function kindIn({ kind }: JsonObject): LinkKind | undefined {
  return kind === 'reset' || kind === 'invite' || kind === 'signup' ? kind : undefined
}

/** All links that were sent to a user. */
export function deleteLinksOf(session: Session, userGuid: string): Promise<void> {
  return deleteLinks(session, 'user_guid', userGuid)
}

/** All links that were sent to an address. */
export function deleteLinksTo(session: Session, emailKey: string): Promise<void> {
  return deleteLinks(session, 'email_key', emailKey)
}

async function deleteLinks(session: Session, field: string, value: string): Promise<void> {
  const oldestFirst = { field: 'expiry', order: 'asc', missing: 'first' } as const
  for (;;) {
    const query = { kind: 'term', field, value } as const
    const links = await findAll(session, systemStorages.accountLinks, query, PAGE, [oldestFirst])
    for (const link of links) await session.delete(systemStorages.accountLinks, guidOf(link))
    if (links.length < PAGE) return
  }
}
