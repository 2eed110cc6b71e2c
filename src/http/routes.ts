/** Every family of routes of the management API and of the site: one line each. A test says which one is missing here. */
import type { Access } from '../access/access.ts'
import type { Applications } from '../applications/applications.ts'
import type { Drafts } from '../applications/drafts.ts'
import type { PendingPushes } from '../applications/pending-pushes.ts'
import type { QueueSteering } from '../flows/background/queue-steering.ts'
import type { Waits } from '../flows/background/waits.ts'
import type { Flows } from '../flows/flows.ts'
import type { Runs } from '../flows/run-pipeline.ts'
import type { Samples } from '../flows/samples/samples.ts'
import type { Tracing } from '../flows/trace/tracing.ts'
import type { AlertRules } from '../records/alerts/alert-rules.ts'
import type { Assets } from '../records/assets/assets.ts'
import type { AuditChain } from '../records/audit-chain.ts'
import type { AuditLog } from '../records/audit-log.ts'
import type { Backups } from '../records/backups/backups.ts'
import type { DocumentImports } from '../records/documents/document-import.ts'
import type { FieldRules } from '../records/fields/field-rules.ts'
import type { SigningSecret } from '../records/secrets/signing-secret.ts'
import type { OptionSettings } from '../records/settings/option-settings.ts'
import type { StorageContext } from '../records/storage-records.ts'
import type { BlockDescription } from '../shared/api/blocks/blocks.ts'
import type { Info, NodeRecord } from '../shared/api/operate/nodes.ts'
import type { Clock } from '../shared/clock.ts'
import type { FieldRule } from '../shared/field-rule.ts'
import type { MaybePromise } from '../shared/maybe-promise.ts'
import type { Capabilities } from '../storage/capabilities.ts'
import type { Database } from '../storage/database.ts'
import type { DescribeEndpoints } from './docs/endpoint-descriptions.ts'
import type { Idempotency } from './endpoints/endpoint-idempotency.ts'
import type { PageServices } from './pages/open-page-services.ts'
import { applicationRoutes } from './routes/blueprints/applications.ts'
import { blockCatalogueRoutes, blockTimeRoutes } from './routes/blueprints/blocks.ts'
import { blueprintActionRoutes } from './routes/blueprints/blueprint-actions.ts'
import { blueprintDeploymentRoutes } from './routes/blueprints/blueprint-deployment.ts'
import { blueprintEditRoutes } from './routes/blueprints/blueprint-edits.ts'
import { blueprintFieldRoutes } from './routes/blueprints/blueprint-fields.ts'
import { blueprintTemplateRoutes } from './routes/blueprints/blueprint-templates.ts'
import { blueprintTracingRoutes, handRunRoutes } from './routes/blueprints/blueprint-tracing.ts'
import { blueprintValidationRoutes } from './routes/blueprints/blueprint-validation.ts'
import { blueprintVersionRoutes } from './routes/blueprints/blueprint-versions.ts'
import { blueprintRoutes } from './routes/blueprints/blueprints.ts'
import { type Assistant, assistantRoutes, draftRoutes } from './routes/blueprints/drafts.ts'
import { offeredToolRoutes } from './routes/blueprints/offered-tools.ts'
import { fileSchemaRoutes, pagePreviewRoutes } from './routes/blueprints/page-preview.ts'
import { type ManagedPreviews, previewRoutes } from './routes/blueprints/previews.ts'
import { pushRoutes } from './routes/blueprints/pushes.ts'
import { runRoutes, sendAgainRoutes } from './routes/blueprints/runs.ts'
import { assetRoutes, linkedFileRoutes } from './routes/data/assets.ts'
import { documentRoutes } from './routes/data/documents.ts'
import { documentImportRoutes } from './routes/data/documents-import.ts'
import { manyDocumentRoutes } from './routes/data/documents-many.ts'
import { documentTransferRoutes } from './routes/data/documents-transfer.ts'
import { sampleDocumentRoutes } from './routes/data/sample-documents.ts'
import { preparationRoutes, storageAdviceRoutes } from './routes/data/storage-advice.ts'
import { storageRoutes } from './routes/data/storages.ts'
import { undoRunRoutes } from './routes/data/undo-run.ts'
import { viewRoutes } from './routes/data/views.ts'
import { alertRoutes } from './routes/operate/alerts.ts'
import { awaitedRequestRoutes } from './routes/operate/awaited-requests.ts'
import { backupRoutes } from './routes/operate/backups.ts'
import { connectionDocumentRoutes } from './routes/operate/connection-documents.ts'
import { connectionRoutes } from './routes/operate/connections.ts'
import { environmentRoutes } from './routes/operate/environment.ts'
import { type ExtensionParts, extensionRoutes } from './routes/operate/extensions.ts'
import { auditLogRoutes, systemLogRoutes } from './routes/operate/logs.ts'
import { figureRoutes, type MetricsServices, metricsRoutes } from './routes/operate/metrics.ts'
import { databaseRoutes, healthRoutes, infoRoutes, nodeRoutes } from './routes/operate/nodes.ts'
import { queueRoutes } from './routes/operate/queues.ts'
import { type PlannedSchedules, scheduleRoutes } from './routes/operate/schedules.ts'
import { secretRoutes, signRequestRoutes } from './routes/operate/secrets.ts'
import { settingRoutes } from './routes/operate/settings.ts'
import { type ManagedSpaces, spaceRoutes } from './routes/operate/spaces.ts'
import { waitRoutes } from './routes/operate/waits.ts'
import { agentGrantRoutes } from './routes/people/agents.ts'
import { apiKeyRoutes } from './routes/people/api-keys.ts'
import { authRoutes } from './routes/people/auth.ts'
import { authenticationGroupRoutes } from './routes/people/authentication-groups.ts'
import { explainUserRoutes } from './routes/people/explain-user.ts'
import { invitationRoutes, meRoutes, myTaskRoutes, userLogRoutes } from './routes/people/me.ts'
import { passkeyRoutes } from './routes/people/passkeys.ts'
import { secondFactorRoutes } from './routes/people/second-factors.ts'
import { sessionRoutes } from './routes/people/sessions.ts'
import { signInProviderRoutes } from './routes/people/sign-in-providers.ts'
import { userRoutes } from './routes/people/users.ts'
import { docsRoutes, openApiRoutes } from './routes/site/open-api.ts'
import { staticFileRoutes, studioFileRoutes } from './routes/site/studio-files.ts'
import type { RouteFamily } from './server/route-family.ts'

/** What the families work with. */
export interface ManagementParts {
  readonly access: Access
  readonly flows: Flows
  readonly tracing: Tracing
  readonly samples: Samples
  readonly runs: Pick<Runs, 'run'>
  readonly audit: AuditLog
  readonly rules: Pick<FieldRules, 'permissions'>
  readonly auditChain: AuditChain
  readonly documents: StorageContext
  readonly imports: DocumentImports
  readonly alerts: AlertRules
  readonly applications: Applications
  readonly drafts: Drafts
  readonly assistant: Assistant
  readonly pushes: PendingPushes
  readonly settings: OptionSettings
  /** undefined where PostgreSQL keeps the data. */
  readonly backups: Backups | undefined
  /** undefined in a space. */
  readonly spaces: ManagedSpaces | undefined
  readonly previews: ManagedPreviews | undefined
  readonly assets: Assets
  readonly secret: SigningSecret
  readonly clock: Clock
  readonly capabilities: Capabilities
  readonly steering: QueueSteering
  readonly waits: Waits
  /** undefined where nothing is planned. */
  readonly scheduler: PlannedSchedules | undefined
  /** The number of the cluster. */
  readonly entity: number
  /** The same list until it changes. */
  readonly blocks: () => readonly BlockDescription[]
  readonly extensions: ExtensionParts
  readonly describe: DescribeEndpoints
  readonly idempotency: Idempotency
  readonly rulesOf: (storage: string) => MaybePromise<readonly FieldRule[]>
  readonly pages: PageServices
  readonly info: () => Promise<Omit<Info, 'api'>>
  readonly nodes: () => Promise<readonly NodeRecord[]>
}

/** Users, and what they sign in with. */
function peopleRoutes(access: Access, { environment, records, newGuid }: Flows): RouteFamily[] {
  const { database } = records
  return [
    userRoutes(access),
    sessionRoutes(access),
    secondFactorRoutes(access),
    passkeyRoutes(access, newGuid),
    signInProviderRoutes(access, { database, publicUrl: environment.publicUrl }),
    invitationRoutes(access),
    apiKeyRoutes(access),
    agentGrantRoutes(access),
    authenticationGroupRoutes(access),
    userLogRoutes(access),
  ]
}

/** Under `/api/v1`. */
export function managementRoutes(parts: ManagementParts): RouteFamily[] {
  const { access, flows, tracing, documents, capabilities, scheduler } = parts
  const { records, live, permissions } = flows
  return [
    authRoutes(access),
    meRoutes(access),
    myTaskRoutes(parts.waits, parts.flows.live.table, parts.pushes),
    explainUserRoutes({
      ...{ access, permissions, table: live.table, rules: parts.rules },
      storages: () => records.database.names(),
    }),
    ...peopleRoutes(access, flows),
    infoRoutes(parts.info),
    nodeRoutes(parts.nodes),
    figureRoutes(records),
    alertRoutes(parts.alerts, records),
    databaseRoutes(capabilities),
    ...builderRoutes(parts),
    environmentRoutes(flows.environmentValues, records),
    secretRoutes(flows, access.providers),
    signRequestRoutes(flows, parts.audit),
    connectionRoutes(flows, records),
    connectionDocumentRoutes(flows, records.database),
    extensionRoutes(parts.extensions),
    settingRoutes(parts.settings),
    ...(parts.spaces ? [spaceRoutes(parts.spaces, records.database)] : []),
    ...(parts.previews ? [previewRoutes(parts.previews)] : []),
    backupRoutes(parts.backups, { audit: parts.audit, database: records.database }),
    storageRoutes(documents, live, permissions),
    viewRoutes(documents),
    storageAdviceRoutes(documents, live),
    preparationRoutes(capabilities.indexes),
    documentRoutes(documents, permissions),
    manyDocumentRoutes(documents, permissions, flows.newGuid),
    undoRunRoutes({ documents, permissions, tracing, newGuid: flows.newGuid, cancel: parts.steering.cancel }),
    documentTransferRoutes(documents, permissions),
    documentImportRoutes(documents, parts.imports, permissions),
    sampleDocumentRoutes(documents, permissions),
    assetRoutes(parts.assets),
    linkedFileRoutes(parts.assets, parts.secret, parts.clock),
    awaitedRequestRoutes(parts.waits, records.clock),
    waitRoutes(parts.waits, records.clock),
    queueRoutes(records.database, parts.entity, parts.steering),
    ...(scheduler ? [scheduleRoutes(scheduler)] : []),
    systemLogRoutes(flows),
    auditLogRoutes({ records, audit: parts.audit, auditChain: parts.auditChain }),
    openApiRoutes(parts.describe),
  ]
}

export interface SiteParts {
  readonly database: Database
  readonly assets: Assets
  readonly describe: DescribeEndpoints
  readonly metrics: MetricsServices
  readonly isDamaged: () => boolean
  /** Whether the audit log waits for its receiver. */
  readonly isStreamLate: () => boolean
  /** Whether something failed in the process that no part of it handles. */
  readonly hasFaulted?: (() => boolean) | undefined
  /** Whether an administrator signs in by a password alone, in production. */
  readonly lacksFactor: () => Promise<boolean>
  readonly spaces: ManagedSpaces | undefined
  /** The folder of the built studio. */
  readonly studio: string
}

async function warningOf(
  { isStreamLate, hasFaulted, spaces, lacksFactor }: SiteParts,
  mayReadUsers: () => Promise<boolean>,
): Promise<string | undefined> {
  if (isStreamLate()) return 'audit_stream'
  if ((spaces?.failing() ?? 0) > 0) return 'spaces'
  if (hasFaulted?.()) return 'unhandled_error'
  // Strangers are told of no weakness, and not by the time that it takes to look.
  return (await mayReadUsers()) && (await lacksFactor()) ? 'second_factor' : undefined
}

/** Under `/`. */
export function siteRoutes(parts: SiteParts): RouteFamily[] {
  return [
    docsRoutes(parts.describe),
    staticFileRoutes(parts.assets),
    studioFileRoutes(parts.studio),
    healthRoutes(parts.database, undefined, parts.isDamaged, (mayReadUsers) =>
      warningOf(parts, mayReadUsers),
    ),
    metricsRoutes(parts.metrics),
  ]
}

/** Those of blueprints and applications, and of their runs. */
function builderRoutes(parts: ManagementParts): RouteFamily[] {
  const { access, flows, tracing, scheduler } = parts
  const { records } = flows
  return [
    blueprintRoutes(flows),
    applicationRoutes(parts.applications, parts.pushes),
    pushRoutes(parts.pushes),
    draftRoutes(parts.drafts, parts.applications, parts.pushes),
    assistantRoutes(parts.assistant, (error) =>
      flows.log.write({ level: 'error', message: `The assistant failed: ${String(error)}` }),
    ),
    fileSchemaRoutes(parts.blocks),
    blueprintDeploymentRoutes(flows, access),
    pagePreviewRoutes(flows, parts.pages),
    blueprintVersionRoutes(flows),
    blockCatalogueRoutes(parts.blocks, flows),
    blueprintActionRoutes(flows),
    blueprintEditRoutes(flows),
    blueprintFieldRoutes(flows),
    blueprintTracingRoutes(tracing),
    blockTimeRoutes(parts.samples),
    runRoutes(tracing, access),
    sendAgainRoutes(tracing, parts.steering),
    handRunRoutes(
      {
        ...{ tracing, run: parts.runs.run, audit: parts.audit, schedulesByHand: new Set() },
        isScheduleRunning: scheduler && ((schedule) => scheduler.isRunning(schedule)),
      },
      access,
    ),
    offeredToolRoutes({ ...parts, table: flows.live.table }),
    blueprintTemplateRoutes(records),
    blueprintValidationRoutes(records),
  ]
}
