import type { ApiTag } from './open-api-document.ts'

/** The groups of management operations, in the order in which the reference shows them. */
export const apiTags: ApiTag[] = [
  { name: 'Sign-in', description: 'Access tokens.' },
  { name: 'Users', description: 'Users, their scopes, and the account of the caller.' },
  { name: 'API keys', description: 'Secrets of users for programs that call in.' },
  { name: 'Sessions', description: 'Where users are signed in.' },
  { name: 'Authentication groups', description: 'Named sets of scopes for users.' },
  { name: 'Cluster', description: 'Version, flags and nodes.' },
  {
    name: 'Alerts',
    description: 'Rules that tell people by mail and webhook of failures, queues and disks.',
  },
  {
    name: 'Blueprints',
    description: 'Flows of blocks: deploy, activate, versions, and explain a path.',
  },
  { name: 'Blocks', description: 'The blocks of a blueprint and their staged changes; all block types.' },
  { name: 'Fields', description: 'Fields of documents and the rules for their values.' },
  { name: 'Runs', description: 'Traced runs: record, watch, pause and replay.' },
  { name: 'Templates', description: 'Layout, navigation and style of pages.' },
  {
    name: 'Validation rules',
    description: 'Rules that every blueprint is checked against when it is deployed.',
  },
  {
    name: 'Secrets',
    description: 'Named, encrypted texts that only pins of the type `secret` use. No reply contains a value.',
  },
  { name: 'Connections', description: 'Servers that flows call by name, with how requests are signed in.' },
  { name: 'Environment', description: 'Named values of the cluster that expressions read as `env.NAME`.' },
  { name: 'Storages', description: 'Collections of documents.' },
  {
    name: 'Documents',
    description: 'Documents of a storage: search, change, restore, history, import and export.',
  },
  { name: 'Assets', description: 'Uploaded files.' },
  { name: 'Queue', description: 'Background jobs, queues and schedules.' },
  { name: 'Logs', description: 'System log, audit log and user log.' },
]
