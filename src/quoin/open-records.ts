import { join } from 'node:path'
import { type Access, openAccess } from '../access/access.ts'
import { auditedAccess } from '../access/audited-access.ts'
import { auditedRecords } from '../flows/audited-records.ts'
import { keepEmptyLists } from '../flows/blueprints/keep-empty-lists.ts'
import { nameBlocks } from '../flows/blueprints/name-blocks.ts'
import { openValidationRules } from '../flows/live/validation-rules.ts'
import { type AlertRules, openAlertRules } from '../records/alerts/alert-rules.ts'
import { openAssets, type StoredAssets } from '../records/assets/assets.ts'
import { type AuditChain, openAuditChain } from '../records/audit-chain.ts'
import { type AuditLog, openAuditLog } from '../records/audit-log.ts'
import { openDocumentHistory } from '../records/documents/document-history.ts'
import { type DocumentImports, openDocumentImports } from '../records/documents/document-import.ts'
import { type FieldRules, openFieldRules } from '../records/fields/field-rules.ts'
import { validatedDatabase } from '../records/fields/validated-database.ts'
import { openRecords, type RecordContext } from '../records/records.ts'
import { openSigningSecret, type SecretKeys, type SigningSecret } from '../records/secrets/signing-secret.ts'
import type { StorageContext } from '../records/storage-records.ts'
import { openTemplates } from '../records/templates.ts'
import { QuoinError } from '../shared/errors.ts'
import { guidSource, pooledRandom } from '../shared/guid.ts'
import { openAssetBucket } from '../storage/assets/asset-bucket.ts'
import { type AssetFiles, openAssetFiles } from '../storage/assets/asset-files.ts'
import { parseBucketUrl } from '../storage/assets/bucket-url.ts'
import type { RawDatabase, ValidatedDatabase } from '../storage/validated.ts'
import type { SetStart } from './open-settings.ts'
import { accessSettings } from './quoin-settings.ts'
import { openSecretKeys } from './secret-key-file.ts'

export interface NodeRecords {
  /** Every write of a document is checked by the rules of its fields. */
  readonly database: ValidatedDatabase
  readonly rules: FieldRules
  readonly records: RecordContext
  readonly access: Access
  readonly audit: AuditLog
  readonly auditChain: AuditChain
  /** Storages with their documents: records, history and audit together. */
  readonly documents: StorageContext
  readonly assets: StoredAssets
  readonly imports: DocumentImports
  readonly alerts: AlertRules
  /** For what this cluster signs for itself. */
  readonly secret: SigningSecret
  /** Of secrets and second factors. */
  readonly secretKeys: SecretKeys
}

/** Quoin's own records, users and uploaded files, and the rules that every write keeps to. */
export async function openNodeRecords(start: SetStart, raw: RawDatabase): Promise<NodeRecords> {
  const { options, set, clock, random, passwordCost, opened } = start
  await openTemplates(raw)
  await keepEmptyLists(raw)
  await nameBlocks(raw)
  await openValidationRules(raw)
  const rules = await openFieldRules(raw)
  const database = validatedDatabase(raw, rules, { clock, random })
  const secretKeys = await openSecretKeys(options, database, random)
  const settings = Object.assign(accessSettings(set, passwordCost), { secretKeys })
  const secret = await openSigningSecret(database, random)
  const access = await openAccess({ database, clock, random, settings, secret })
  opened.add(() => access.close())
  const records = await openRecords(database, clock)
  const history = await openDocumentHistory(database)
  opened.add(() => history.close())
  const newGuid = guidSource(clock, pooledRandom(random))
  const files = await openAssetStore(start, newGuid)
  opened.add(() => files.close())
  const assets = await openAssets(records, files)
  const imports = await openDocumentImports({ database, directory: join(options.data, 'imports'), newGuid })
  opened.add(() => imports.close())
  const alerts = await openAlertRules(database)
  opened.add(async () => alerts.close())
  // Before anything runs that could write what is audited.
  const chain = await openAuditChain({
    ...{ database, clock, keys: secretKeys, offline: start.offline ?? false },
    signedSince: options.auditSignedSince,
  })
  opened.add(() => chain.close())
  const audit = await openAuditLog(database, { ...auditedAccess, ...auditedRecords }, chain)
  const documents = { records, history, audit }
  return {
    ...{ database, rules, records, access, audit, auditChain: chain, documents, assets, imports, alerts },
    ...{ secret, secretKeys },
  }
}

/** Where the settings say that uploaded files lie. `newName`: never gives the same twice. */
async function openAssetStore(
  { options, clock, onlyNode }: SetStart,
  newName: () => string,
): Promise<AssetFiles> {
  if (options.assetsUrl !== '')
    return openAssetBucket({ address: parseBucketUrl(options.assetsUrl), newName, clock })
  const files = await openAssetFiles(join(options.data, 'assets'), newName)
  return options.databaseUrl === '' || onlyNode === true ? files : { ...files, receive: refuse }
}

/** On this node's disk the other nodes would not find it. */
async function refuse(): Promise<never> {
  throw new QuoinError(
    'UNAVAILABLE',
    'This cluster has no place for files. Set QUOIN_ASSETS_URL to s3://… on every node and start them again.',
  )
}
