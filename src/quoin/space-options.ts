/**
 * The options of a space: those of the node that has it, in a folder, with keys, files and addresses of its own.
 *
 * Nothing here may be shared by two spaces through its identity: clients of other servers, and the answers that they have cached, belong to
 * the list of allowed hosts.
 */
import { hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import { type Options, optionTable } from '../options/options.ts'
import type { Space } from '../records/spaces.ts'

/** What of a space its options follow from. */
export type SpacePlace = Pick<Space, 'guid' | 'title' | 'hosts'> & Partial<Pick<Space, 'name' | 'preview'>>

/** Below the folder of the operator's data. */
const FOLDER = 'spaces'

export function spaceFolder(data: string, guid: string): string {
  return join(data, FOLDER, guid)
}

/** Its name on the server, where PostgreSQL keeps the data. */
export function spaceDatabase(guid: string): string {
  return `quoin_space_${guid.replaceAll('-', '')}`
}

/** Connections of a space to PostgreSQL, besides one for messages and one for its lease. */
const MOST_CONNECTIONS = 4

function inDatabase(url: string, guid: string): string {
  if (url === '') return ''
  const address = new URL(url)
  address.pathname = `/${spaceDatabase(guid)}`
  return address.href
}

/** Names of the options that the users of a space see and may change. */
const ofSpace: ReadonlySet<string> = new Set(
  Object.values<{ readonly variable: string; readonly ofSpace?: true }>(optionTable)
    .filter((option) => option.ofSpace === true)
    .map(({ variable }) => variable),
)

export function isOfSpace(variable: string): boolean {
  return ofSpace.has(variable)
}

/** `operator`: the options of the node as they are at present. */
export function spaceOptions(
  operator: Options,
  { guid, name = '', title, hosts, preview }: SpacePlace,
): Options {
  const { data, backups, publicUrl, siteName, secretsKey, secretsOldKeys, texts } = operator
  return {
    ...operator,
    allowedHosts: [...operator.allowedHosts],
    data: spaceFolder(data, guid),
    databaseUrl: inDatabase(operator.databaseUrl, guid),
    listenUrl: inDatabase(operator.listenUrl, guid),
    pool: Math.min(operator.pool, MOST_CONNECTIONS),
    backups: backups === '' ? '' : join(backups, FOLDER, guid),
    publicUrl: preview ? mountedAt(publicUrl, name) : addressOf(publicUrl, hosts),
    siteName: title || siteName,
    assetsUrl: below(operator.assetsUrl, guid),
    secretsKey: spaceKey(secretsKey, guid),
    secretsOldKeys: secretsOldKeys.map((key) => spaceKey(key, guid)),
    adminPassword: '',
    // A space has users of its own, and so providers of its own.
    signInProviders: '',
    examples: false,
    // A preview is a try: what is done in it is no change of the company's.
    // The chain of a space begins with the space.
    auditSignedSince: 0,
    auditStream: preview ? '' : operator.auditStream,
    texts: Object.fromEntries(Object.entries(texts).filter(([name]) => isOfSpace(name))),
  }
}

/** With the scheme and port of the operator's; empty where that one has none. */
function addressOf(publicUrl: string, [host = '']: readonly string[]): string {
  const url = URL.parse(publicUrl)
  if (url === null) return ''
  url.hostname = host
  return publicUrl.endsWith('/') ? url.href : url.href.replace(/\/$/, '')
}

/** Below the address of the operator's. */
function mountedAt(publicUrl: string, name: string): string {
  return publicUrl === '' ? '' : `${publicUrl.replace(/\/$/, '')}/${name}`
}

/** Where the files of a space lie in a bucket. */
function below(assetsUrl: string, guid: string): string {
  const url = URL.parse(assetsUrl)
  if (url === null) return ''
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${FOLDER}/${guid}`
  return url.href
}

/** So that the key of a space, with which it can move to a cluster of its own, opens no other space. */
export function spaceKey(key: string, guid: string): string {
  if (key === '') return ''
  const bytes = Buffer.from(key, /^[0-9a-f]{64}$/i.test(key) ? 'hex' : 'base64')
  return Buffer.from(hkdfSync('sha256', bytes, '', `quoin space ${guid}`, 32)).toString('base64')
}
