import type { ComponentType } from 'react'
import { lazy } from 'react'
import { screensTexts } from '../texts/shell.ts'
import type { ScreenProps } from './screen-props.ts'

export interface Screen {
  /** Below `/studio`, with `:names`. */
  readonly path: string
  /** In the browser's tab and in the command palette. */
  readonly title: string
  readonly component: ComponentType<ScreenProps>
  /** `canvas`: no padding, the whole height, the navigation as a rail. */
  readonly layout?: 'page' | 'canvas'
  /** Words that find it in the command palette; without any it is not listed there. */
  readonly words?: string
}

type Load<Name extends string> = () => Promise<Record<Name, ComponentType<ScreenProps>>>

/** Each screen is a file of its own that is fetched when it is first opened. */
function screenOf<Name extends string>(load: Load<Name>, name: Name): ComponentType<ScreenProps> {
  return lazy(
    async (): Promise<{ default: ComponentType<ScreenProps> }> => ({ default: (await load())[name] }),
  )
}

/** The first path that fits counts, so fixed words stand before `:names`. */
export const screens: readonly Screen[] = [
  {
    path: '/blueprints',
    title: screensTexts.blueprints,
    words: screensTexts.blueprintsWords,
    component: screenOf(() => import('./blueprints/blueprints-screen.tsx'), 'BlueprintsScreen'),
  },
  {
    path: '/blueprints/applications',
    title: screensTexts.applications,
    words: screensTexts.applicationsWords,
    component: screenOf(() => import('./applications/applications-screen.tsx'), 'ApplicationsScreen'),
  },
  {
    path: '/blueprints/applications/:name',
    title: screensTexts.application,
    component: screenOf(() => import('./applications/application-screen.tsx'), 'ApplicationScreen'),
  },
  {
    path: '/blueprints/applications/drafts/:guid',
    title: screensTexts.draft,
    component: screenOf(() => import('./applications/draft-screen.tsx'), 'DraftScreen'),
  },
  {
    path: '/blueprints/applications/pushes/:guid',
    title: screensTexts.push,
    component: screenOf(() => import('./applications/push-screen.tsx'), 'PushScreen'),
  },
  {
    path: '/blueprints/explain',
    title: screensTexts.why404,
    words: screensTexts.why404Words,
    component: screenOf(() => import('./blueprints/explain-screen.tsx'), 'ExplainScreen'),
  },
  {
    path: '/blueprints/:guid',
    title: screensTexts.blueprint,
    layout: 'canvas',
    component: screenOf(() => import('./blueprints/blueprint-screen.tsx'), 'BlueprintScreen'),
  },
  {
    path: '/data',
    title: screensTexts.storages,
    words: screensTexts.storagesWords,
    component: screenOf(() => import('./data/storages-screen.tsx'), 'StoragesScreen'),
  },
  {
    path: '/data/fields',
    title: screensTexts.fields,
    words: screensTexts.fieldsWords,
    component: screenOf(() => import('./data/fields/fields-screen.tsx'), 'FieldsScreen'),
  },
  {
    path: '/data/storages/:storage',
    title: screensTexts.documents,
    component: screenOf(() => import('./data/documents/documents-screen.tsx'), 'DocumentsScreen'),
  },
  {
    path: '/data/storages/:storage/documents/:document',
    title: screensTexts.document,
    component: screenOf(() => import('./data/documents/document-screen.tsx'), 'DocumentScreen'),
  },
  {
    path: '/assets',
    title: screensTexts.assets,
    words: screensTexts.assetsWords,
    component: screenOf(() => import('./assets/assets-screen.tsx'), 'AssetsScreen'),
  },
  {
    path: '/operate',
    title: screensTexts.overview,
    words: screensTexts.overviewWords,
    component: screenOf(() => import('./operate/overview-screen.tsx'), 'OverviewScreen'),
  },
  {
    path: '/operate/charts',
    title: screensTexts.charts,
    words: screensTexts.chartsWords,
    component: screenOf(() => import('./operate/charts/charts-screen.tsx'), 'ChartsScreen'),
  },
  {
    path: '/operate/alerts',
    title: screensTexts.alerts,
    words: screensTexts.alertsWords,
    component: screenOf(() => import('./operate/alerts/alerts-screen.tsx'), 'AlertsScreen'),
  },
  {
    path: '/operate/queues',
    title: screensTexts.queuesAndJobs,
    words: screensTexts.queuesAndJobsWords,
    component: screenOf(() => import('./operate/queues-screen.tsx'), 'QueuesScreen'),
  },
  {
    path: '/operate/runs/:run',
    title: screensTexts.run,
    component: screenOf(() => import('./operate/runs/run-screen.tsx'), 'RunScreen'),
  },
  {
    path: '/operate/waits',
    title: screensTexts.waitingRuns,
    words: screensTexts.waitingRunsWords,
    component: screenOf(() => import('./operate/waits/waits-screen.tsx'), 'WaitsScreen'),
  },
  {
    path: '/operate/schedules',
    title: screensTexts.schedules,
    words: screensTexts.schedulesWords,
    component: screenOf(() => import('./operate/schedules-screen.tsx'), 'SchedulesScreen'),
  },
  {
    path: '/operate/system-log',
    title: screensTexts.systemLog,
    words: screensTexts.systemLogWords,
    component: screenOf(() => import('./operate/system-log-screen.tsx'), 'SystemLogScreen'),
  },
  {
    path: '/operate/audit-log',
    title: screensTexts.auditLog,
    words: screensTexts.auditLogWords,
    component: screenOf(() => import('./operate/audit-log-screen.tsx'), 'AuditLogScreen'),
  },
  {
    path: '/operate/user-log',
    title: screensTexts.userLog,
    words: screensTexts.userLogWords,
    component: screenOf(() => import('./operate/user-log-screen.tsx'), 'UserLogScreen'),
  },
  {
    path: '/operate/environment',
    title: screensTexts.environment,
    words: screensTexts.environmentWords,
    component: screenOf(() => import('./operate/named/environment-screen.tsx'), 'EnvironmentScreen'),
  },
  {
    path: '/operate/secrets',
    title: screensTexts.secrets,
    words: screensTexts.secretsWords,
    component: screenOf(() => import('./operate/named/secrets-screen.tsx'), 'SecretsScreen'),
  },
  {
    path: '/operate/connections',
    title: screensTexts.connections,
    words: screensTexts.connectionsWords,
    component: screenOf(() => import('./operate/named/connections-screen.tsx'), 'ConnectionsScreen'),
  },
  {
    path: '/operate/extensions',
    title: screensTexts.extensions,
    words: screensTexts.extensionsWords,
    component: screenOf(() => import('./operate/extensions-screen.tsx'), 'ExtensionsScreen'),
  },
  {
    path: '/operate/spaces',
    title: screensTexts.spaces,
    words: screensTexts.spacesWords,
    component: screenOf(() => import('./operate/spaces-screen.tsx'), 'SpacesScreen'),
  },
  {
    path: '/operate/settings',
    title: screensTexts.settings,
    words: screensTexts.settingsWords,
    component: screenOf(() => import('./operate/settings/settings-screen.tsx'), 'SettingsScreen'),
  },
  {
    path: '/operate/backups',
    title: screensTexts.backups,
    words: screensTexts.backupsWords,
    component: screenOf(() => import('./operate/backups/backups-screen.tsx'), 'BackupsScreen'),
  },
  {
    path: '/operate/nodes',
    title: screensTexts.nodes,
    words: screensTexts.nodesWords,
    component: screenOf(() => import('./operate/nodes-screen.tsx'), 'NodesScreen'),
  },
  {
    path: '/people',
    title: screensTexts.users,
    words: screensTexts.usersWords,
    component: screenOf(() => import('./people/users-screen.tsx'), 'UsersScreen'),
  },
  {
    path: '/people/groups',
    title: screensTexts.groups,
    words: screensTexts.groupsWords,
    component: screenOf(() => import('./people/groups-screen.tsx'), 'GroupsScreen'),
  },
  {
    path: '/people/providers',
    title: screensTexts.providers,
    words: screensTexts.providersWords,
    component: screenOf(() => import('./people/providers-screen.tsx'), 'ProvidersScreen'),
  },
  {
    path: '/people/scopes',
    title: screensTexts.scopes,
    words: screensTexts.scopesWords,
    component: screenOf(() => import('./people/scopes-screen.tsx'), 'ScopesScreen'),
  },
  {
    path: '/people/who-may',
    title: screensTexts.whoMay,
    component: screenOf(() => import('./people/scopes-screen.tsx'), 'WhoMayScreen'),
  },
  {
    path: '/people/users/:guid',
    title: screensTexts.user,
    component: screenOf(() => import('./people/user-screen.tsx'), 'UserScreen'),
  },
  {
    path: '/people/users/:guid/access',
    title: screensTexts.user,
    component: screenOf(() => import('./people/user-access-screen.tsx'), 'UserAccessScreen'),
  },
  {
    path: '/account',
    title: screensTexts.yourAccount,
    words: screensTexts.yourAccountWords,
    component: screenOf(() => import('./people/account-screen.tsx'), 'AccountScreen'),
  },
  {
    path: '/data/templates',
    title: screensTexts.pageTemplates,
    words: screensTexts.pageTemplatesWords,
    component: screenOf(() => import('./data/templates-screen.tsx'), 'TemplatesScreen'),
  },
  {
    path: '/data/templates/:guid',
    title: screensTexts.pageTemplate,
    component: screenOf(() => import('./data/template-screen.tsx'), 'TemplateScreen'),
  },
  {
    path: '/data/rules',
    title: screensTexts.validationRules,
    words: screensTexts.validationRulesWords,
    component: screenOf(() => import('./data/rules/rules-screen.tsx'), 'RulesScreen'),
  },
  {
    path: '/api',
    title: screensTexts.api,
    words: screensTexts.apiWords,
    component: screenOf(() => import('./api/endpoints-screen.tsx'), 'EndpointsScreen'),
  },
  {
    path: '/api/blocks',
    title: screensTexts.blocks,
    words: screensTexts.blocksWords,
    component: screenOf(() => import('./api/blocks-screen.tsx'), 'BlocksScreen'),
  },
  {
    path: '/welcome',
    title: screensTexts.firstSteps,
    words: screensTexts.firstStepsWords,
    component: screenOf(() => import('./start/welcome-screen.tsx'), 'WelcomeScreen'),
  },
]
