import type { IconName } from '../controls/icon.tsx'

interface Place {
  readonly path: string
  readonly label: string
}

export interface Section extends Place {
  readonly icon: IconName
  /** `g` and this letter go there. */
  readonly letter: string
  /** Shown below it while it is open. */
  readonly places: readonly Place[]
}

/** The navigation, from top to bottom. */
export const sections: readonly Section[] = [
  {
    path: '/blueprints',
    label: 'Blueprints',
    icon: 'blueprint',
    letter: 'b',
    places: [
      { path: '/blueprints', label: 'All blueprints' },
      { path: '/blueprints/explain', label: 'Why 404?' },
    ],
  },
  {
    path: '/data',
    label: 'Data',
    icon: 'data',
    letter: 'd',
    places: [
      { path: '/data', label: 'Storages' },
      { path: '/data/fields', label: 'Fields' },
      { path: '/data/templates', label: 'Page templates' },
      { path: '/data/rules', label: 'Validation rules' },
    ],
  },
  { path: '/assets', label: 'Assets', icon: 'asset', letter: 'a', places: [] },
  {
    path: '/operate',
    label: 'Operate',
    icon: 'operate',
    letter: 'o',
    places: [
      { path: '/operate', label: 'Overview' },
      { path: '/operate/charts', label: 'Charts' },
      { path: '/operate/alerts', label: 'Alerts' },
      { path: '/operate/queues', label: 'Queues and jobs' },
      { path: '/operate/waits', label: 'Waiting runs' },
      { path: '/operate/schedules', label: 'Schedules' },
      { path: '/operate/system-log', label: 'System log' },
      { path: '/operate/audit-log', label: 'Audit log' },
      { path: '/operate/user-log', label: 'User log' },
      { path: '/operate/environment', label: 'Environment' },
      { path: '/operate/secrets', label: 'Secrets' },
      { path: '/operate/connections', label: 'Connections' },
      { path: '/operate/settings', label: 'Settings' },
      { path: '/operate/backups', label: 'Backups' },
      { path: '/operate/nodes', label: 'Nodes' },
    ],
  },
  {
    path: '/people',
    label: 'Users',
    icon: 'people',
    letter: 'u',
    places: [
      { path: '/people', label: 'Users' },
      { path: '/people/groups', label: 'Groups' },
      { path: '/people/scopes', label: 'Scopes' },
    ],
  },
  {
    path: '/api',
    label: 'API',
    icon: 'api',
    letter: 'p',
    places: [
      { path: '/api', label: 'Endpoints' },
      { path: '/api/blocks', label: 'Blocks' },
    ],
  },
]

/** The section that an address belongs to. */
export function sectionOf(path: string): Section | undefined {
  return sections.find((section) => path === section.path || path.startsWith(`${section.path}/`))
}

/** The place of a section that an address belongs to: the one with the longest path that it begins with. */
export function placeOf(section: Section, path: string): Place | undefined {
  return section.places
    .filter((place) => path === place.path || path.startsWith(`${place.path}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0]
}
