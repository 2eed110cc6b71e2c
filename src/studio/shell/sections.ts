import type { Info } from '../../shared/api/operate/nodes.ts'
import type { IconName } from '../controls/icon.tsx'
import { shellTexts } from '../texts/shell.ts'

interface Place {
  readonly path: string
  readonly label: string
  /** Heads the places from this one on. */
  readonly group?: string
  /** A space of the cluster has no such place. */
  readonly isOfOperator?: true
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
    label: shellTexts.blueprints,
    icon: 'blueprint',
    letter: 'b',
    places: [
      { path: '/blueprints', label: shellTexts.allBlueprints },
      { path: '/blueprints/applications', label: shellTexts.applications },
      { path: '/blueprints/explain', label: shellTexts.why404 },
    ],
  },
  {
    path: '/data',
    label: shellTexts.data,
    icon: 'data',
    letter: 'd',
    places: [
      { path: '/data', label: shellTexts.storages },
      { path: '/data/fields', label: shellTexts.fields },
      { path: '/data/templates', label: shellTexts.pageTemplates },
      { path: '/data/rules', label: shellTexts.validationRules },
    ],
  },
  { path: '/assets', label: shellTexts.assets, icon: 'asset', letter: 'a', places: [] },
  {
    path: '/operate',
    label: shellTexts.operate,
    icon: 'operate',
    letter: 'o',
    places: [
      { path: '/operate', label: shellTexts.overview },
      { path: '/operate/charts', label: shellTexts.charts },
      { path: '/operate/alerts', label: shellTexts.alerts },
      { path: '/operate/queues', label: shellTexts.queuesAndJobs, group: shellTexts.work },
      { path: '/operate/waits', label: shellTexts.waitingRuns },
      { path: '/operate/schedules', label: shellTexts.schedules },
      { path: '/operate/system-log', label: shellTexts.systemLog, group: shellTexts.logs },
      { path: '/operate/audit-log', label: shellTexts.auditLog },
      { path: '/operate/user-log', label: shellTexts.userLog },
      { path: '/operate/environment', label: shellTexts.environment, group: shellTexts.configuration },
      { path: '/operate/secrets', label: shellTexts.secrets },
      { path: '/operate/connections', label: shellTexts.connections },
      { path: '/operate/settings', label: shellTexts.settings },
      { path: '/operate/backups', label: shellTexts.backups, group: shellTexts.server },
      { path: '/operate/nodes', label: shellTexts.nodes },
      { path: '/operate/extensions', label: shellTexts.extensions },
      { path: '/operate/spaces', label: shellTexts.spaces, isOfOperator: true },
    ],
  },
  {
    path: '/people',
    label: shellTexts.users,
    icon: 'people',
    letter: 'u',
    places: [
      { path: '/people', label: shellTexts.users },
      { path: '/people/groups', label: shellTexts.groups },
      { path: '/people/scopes', label: shellTexts.scopes },
      { path: '/people/providers', label: shellTexts.providers },
    ],
  },
  {
    path: '/api',
    label: shellTexts.api,
    icon: 'api',
    letter: 'p',
    places: [
      { path: '/api', label: shellTexts.endpoints },
      { path: '/api/blocks', label: shellTexts.blocks },
    ],
  },
]

/** Whether the place at a path is to be offered. Of the operator's, none is until it is known that this is no space. */
export function isOffered(path: string, info: Pick<Info, 'flags'> | undefined): boolean {
  const isOfOperator = sections.some(({ places }) =>
    places.some((place) => place.path === path && place.isOfOperator),
  )
  return !isOfOperator || (info !== undefined && info.flags.space !== true)
}

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
