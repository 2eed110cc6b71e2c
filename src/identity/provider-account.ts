/**
 * Accounts at sign-in providers, as `_provider_accounts` keeps them: `{ key, provider, issuer, subject, user_guid, email, last_used }`.
 * A user may have several; one account has one user. A name at a provider changes, its `subject` does not.
 */
import { hash } from 'node:crypto'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { Session } from '../storage/database.ts'
import { guidOf, textIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'

const MOST_OF_USER = 100

/** What of an account never changes. */
export interface AccountKey {
  readonly provider: { readonly guid: string }
  readonly issuer: string
  readonly subject: string
}

function keyOf({ provider, issuer, subject }: AccountKey): string {
  return hash('sha256', JSON.stringify([provider.guid, issuer, subject]), 'hex')
}

/** The guid of its user; undefined for an account that no user has. */
export async function userOfAccount(session: Session, account: AccountKey): Promise<string | undefined> {
  const record = await findOne(session, systemStorages.providerAccounts, 'key', keyOf(account))
  return record && textIn(record.user_guid)
}

/** Throws CONFLICT where another transaction gives the account to another user meanwhile. */
export async function createAccount(
  session: Session,
  account: AccountKey,
  { userGuid, email, now }: { readonly userGuid: string; readonly email: string; readonly now: number },
): Promise<void> {
  const { provider, issuer, subject } = account
  const fields = { key: keyOf(account), provider: provider.guid, issuer, subject, user_guid: userGuid, email }
  await session.create(systemStorages.providerAccounts, setFields({ ...fields, last_used: now }))
}

export async function noteUse(session: Session, account: AccountKey, now: number): Promise<void> {
  const record = await findOne(session, systemStorages.providerAccounts, 'key', keyOf(account))
  if (record)
    await session.update(systemStorages.providerAccounts, guidOf(record), setFields({ last_used: now }))
}

export function accountsOf(session: Session, userGuid: string): Promise<JsonObject[]> {
  const ofUser = { kind: 'term', field: 'user_guid', value: userGuid } as const
  return findAll(session, systemStorages.providerAccounts, ofUser, MOST_OF_USER)
}

/** Whether a user signs in with another account of the same provider already. Another issuer has other accounts. */
export async function hasOtherAccount(
  session: Session,
  userGuid: string,
  account: AccountKey,
): Promise<boolean> {
  const { provider, issuer, subject } = account
  return (await accountsOf(session, userGuid)).some(
    (one) => one.provider === provider.guid && one.issuer === issuer && one.subject !== subject,
  )
}

export async function deleteAccountsOf(session: Session, userGuid: string): Promise<void> {
  for (const account of await accountsOf(session, userGuid))
    await session.delete(systemStorages.providerAccounts, guidOf(account))
}
