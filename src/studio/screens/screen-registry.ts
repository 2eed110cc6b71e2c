import type { ComponentType } from 'react'
import { lazy } from 'react'
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
    title: 'Blueprints',
    words: 'flows endpoints',
    component: screenOf(() => import('./blueprints/blueprints-screen.tsx'), 'BlueprintsScreen'),
  },
  {
    path: '/blueprints/explain',
    title: 'Why 404?',
    words: 'explain endpoint reachable scope',
    component: screenOf(() => import('./blueprints/explain-screen.tsx'), 'ExplainScreen'),
  },
  {
    path: '/blueprints/:guid',
    title: 'Blueprint',
    layout: 'canvas',
    component: screenOf(() => import('./blueprints/blueprint-screen.tsx'), 'BlueprintScreen'),
  },
  {
    path: '/data',
    title: 'Storages',
    words: 'data documents collections tables',
    component: screenOf(() => import('./data/storages-screen.tsx'), 'StoragesScreen'),
  },
  {
    path: '/data/fields',
    title: 'Fields',
    words: 'rules types validation blueprint fields',
    component: screenOf(() => import('./data/fields-screen.tsx'), 'FieldsScreen'),
  },
  {
    path: '/data/storages/:storage',
    title: 'Documents',
    component: screenOf(() => import('./data/documents-screen.tsx'), 'DocumentsScreen'),
  },
  {
    path: '/data/storages/:storage/documents/:document',
    title: 'Document',
    component: screenOf(() => import('./data/document-screen.tsx'), 'DocumentScreen'),
  },
  {
    path: '/assets',
    title: 'Assets',
    words: 'files images uploads media',
    component: screenOf(() => import('./assets/assets-screen.tsx'), 'AssetsScreen'),
  },
  {
    path: '/operate',
    title: 'Overview',
    words: 'operate errors dead letters traffic',
    component: screenOf(() => import('./operate/overview-screen.tsx'), 'OverviewScreen'),
  },
  {
    path: '/operate/charts',
    title: 'Charts',
    words: 'requests errors failures latency p95 traffic over time metrics',
    component: screenOf(() => import('./operate/charts/charts-screen.tsx'), 'ChartsScreen'),
  },
  {
    path: '/operate/alerts',
    title: 'Alerts',
    words: 'notify mail webhook errors dead letters disk warnings',
    component: screenOf(() => import('./operate/alerts/alerts-screen.tsx'), 'AlertsScreen'),
  },
  {
    path: '/operate/queues',
    title: 'Queues and jobs',
    words: 'dead letters requeue pause drain',
    component: screenOf(() => import('./operate/queues-screen.tsx'), 'QueuesScreen'),
  },
  {
    path: '/operate/runs/:run',
    title: 'Run',
    component: screenOf(() => import('./operate/runs/run-screen.tsx'), 'RunScreen'),
  },
  {
    path: '/operate/waits',
    title: 'Waiting runs',
    words: 'approvals webhooks wait continue cancel',
    component: screenOf(() => import('./operate/waits/waits-screen.tsx'), 'WaitsScreen'),
  },
  {
    path: '/operate/schedules',
    title: 'Schedules',
    words: 'cron ticks',
    component: screenOf(() => import('./operate/schedules-screen.tsx'), 'SchedulesScreen'),
  },
  {
    path: '/operate/system-log',
    title: 'System log',
    words: 'errors tail runs',
    component: screenOf(() => import('./operate/system-log-screen.tsx'), 'SystemLogScreen'),
  },
  {
    path: '/operate/audit-log',
    title: 'Audit log',
    words: 'who changed what',
    component: screenOf(() => import('./operate/audit-log-screen.tsx'), 'AuditLogScreen'),
  },
  {
    path: '/operate/user-log',
    title: 'User log',
    words: 'sign-ins requests',
    component: screenOf(() => import('./operate/user-log-screen.tsx'), 'UserLogScreen'),
  },
  {
    path: '/operate/environment',
    title: 'Environment',
    words: 'env values settings constants base url',
    component: screenOf(() => import('./operate/named/environment-screen.tsx'), 'EnvironmentScreen'),
  },
  {
    path: '/operate/secrets',
    title: 'Secrets',
    words: 'keys passwords tokens credentials',
    component: screenOf(() => import('./operate/named/secrets-screen.tsx'), 'SecretsScreen'),
  },
  {
    path: '/operate/connections',
    title: 'Connections',
    words: 'http servers oauth bearer api base url',
    component: screenOf(() => import('./operate/named/connections-screen.tsx'), 'ConnectionsScreen'),
  },
  {
    path: '/operate/settings',
    title: 'Settings',
    words: 'options limits log level rate limit environment variables restart',
    component: screenOf(() => import('./operate/settings/settings-screen.tsx'), 'SettingsScreen'),
  },
  {
    path: '/operate/backups',
    title: 'Backups',
    words: 'restore copy schedule disaster recovery',
    component: screenOf(() => import('./operate/backups/backups-screen.tsx'), 'BackupsScreen'),
  },
  {
    path: '/operate/nodes',
    title: 'Nodes',
    words: 'cluster load',
    component: screenOf(() => import('./operate/nodes-screen.tsx'), 'NodesScreen'),
  },
  {
    path: '/people',
    title: 'Users',
    words: 'accounts',
    component: screenOf(() => import('./people/users-screen.tsx'), 'UsersScreen'),
  },
  {
    path: '/people/groups',
    title: 'Groups',
    words: 'roles permissions',
    component: screenOf(() => import('./people/groups-screen.tsx'), 'GroupsScreen'),
  },
  {
    path: '/people/scopes',
    title: 'Scopes',
    words: 'permissions rights',
    component: screenOf(() => import('./people/scopes-screen.tsx'), 'ScopesScreen'),
  },
  {
    path: '/people/users/:guid',
    title: 'User',
    component: screenOf(() => import('./people/user-screen.tsx'), 'UserScreen'),
  },
  {
    path: '/account',
    title: 'Your account',
    words: 'password profile me',
    component: screenOf(() => import('./people/account-screen.tsx'), 'AccountScreen'),
  },
  {
    path: '/data/templates',
    title: 'Page templates',
    words: 'layout css style pages',
    component: screenOf(() => import('./data/templates-screen.tsx'), 'TemplatesScreen'),
  },
  {
    path: '/data/templates/:guid',
    title: 'Page template',
    component: screenOf(() => import('./data/template-screen.tsx'), 'TemplateScreen'),
  },
  {
    path: '/data/rules',
    title: 'Validation rules',
    words: 'house rules deploy checks',
    component: screenOf(() => import('./data/rules-screen.tsx'), 'RulesScreen'),
  },
  {
    path: '/api',
    title: 'API',
    words: 'openapi docs try endpoints',
    component: screenOf(() => import('./api/endpoints-screen.tsx'), 'EndpointsScreen'),
  },
  {
    path: '/api/blocks',
    title: 'Blocks',
    words: 'reference palette pins',
    component: screenOf(() => import('./api/blocks-screen.tsx'), 'BlocksScreen'),
  },
  {
    path: '/welcome',
    title: 'First steps',
    words: 'start templates begin example welcome',
    component: screenOf(() => import('./start/welcome-screen.tsx'), 'WelcomeScreen'),
  },
]
