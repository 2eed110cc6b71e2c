import { Anchor, Button, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { ApplicationRecord, Preview, Push } from '../../../shared/api/blueprints/applications.ts'
import type { Draft } from '../../../shared/api/blueprints/drafts.ts'
import { normalApplication } from '../../../shared/application/application.ts'
import { filesOf } from '../../../shared/application/application-files.ts'
import {
  applicationsQuery,
  assistantQuery,
  draftsQuery,
  editDraft,
  listApplications,
  myDraft,
  previewsQuery,
  pushesQuery,
  readContent,
  removePreview,
} from '../../api/applications.ts'
import { infoQuery } from '../../api/operate.ts'
import { confirm } from '../../controls/confirm.ts'
import { Icon } from '../../controls/icon.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/record-table.tsx'
import { notifyAbout, notifyFailed } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { applicationsTexts } from '../../texts/applications.ts'
import { DescribeDrawer } from './describe-drawer.tsx'
import { folderChanges, inRequests, nameInFolder, readFolderFiles } from './folder-draft.ts'

const columns: readonly Column<ApplicationRecord>[] = [
  {
    id: 'name',
    label: applicationsTexts.application,
    render: ({ name, title }) => (
      <div>
        <Anchor component={Link} href={`/blueprints/applications/${name}`} fw={600} size="sm">
          <bdi>{title || name}</bdi>
        </Anchor>
        {title === '' ? null : (
          <Text size="xs" c="dimmed">
            {name}
          </Text>
        )}
      </div>
    ),
  },
  { id: 'release', label: applicationsTexts.release, numeric: true, render: ({ release }) => release },
  { id: 'version', label: applicationsTexts.version, render: ({ version }) => version || '–' },
  { id: 'released', label: applicationsTexts.released, render: ({ released }) => <Time at={released} /> },
  { id: 'by', label: applicationsTexts.by, render: ({ modified_by }) => modified_by.username },
]

const draftColumns: readonly Column<Draft>[] = [
  {
    id: 'application',
    label: applicationsTexts.application,
    render: ({ guid, application }) => (
      <Anchor component={Link} href={`/blueprints/applications/drafts/${guid}`} fw={600} size="sm">
        {application}
      </Anchor>
    ),
  },
  { id: 'by', label: applicationsTexts.by, render: authorOf },
  { id: 'files', label: applicationsTexts.files, numeric: true, render: ({ paths }) => paths.length },
  { id: 'changed', label: applicationsTexts.changed, render: ({ updated }) => <Time at={updated} /> },
]

const pushColumns: readonly Column<Push>[] = [
  {
    id: 'application',
    label: applicationsTexts.application,
    render: ({ guid, application, release, is_removal: isRemoval }) => (
      <Anchor component={Link} href={`/blueprints/applications/pushes/${guid}`} fw={600} size="sm">
        {isRemoval
          ? applicationsTexts.removalOf(application)
          : applicationsTexts.pushOf(application, release)}
      </Anchor>
    ),
  },
  { id: 'by', label: applicationsTexts.by, render: ({ by }) => by.username },
  { id: 'expires', label: applicationsTexts.expires, render: ({ until }) => <Time at={until} /> },
]

export function authorOf({ author, agent }: Pick<Draft, 'author' | 'agent'>): string {
  return agent === '' ? author.username : applicationsTexts.agentOf(agent, author.username)
}

/** Folders that are live as releases, and the drafts that would change them. */
export function ApplicationsScreen() {
  const { data, error, refetch } = useQuery(applicationsQuery)
  return (
    <>
      <ScreenHead title={applicationsTexts.applications} about={applicationsTexts.applicationsAbout}>
        <Describe />
        <PlanFolder />
      </ScreenHead>
      {error ? (
        <ErrorNotice error={error} title={applicationsTexts.couldNotLoad} onRetry={refetch} />
      ) : data === undefined ? (
        <LoadingScreen />
      ) : (
        <Stack gap="lg">
          {data.length === 0 ? (
            <div className="surface">
              <EmptyState icon="blueprint" title={applicationsTexts.none}>
                <Text size="sm">{applicationsTexts.noneText}</Text>
              </EmptyState>
            </div>
          ) : (
            <CardTable
              label={applicationsTexts.applications}
              columns={columns}
              records={data.toSorted((a, b) => a.name.localeCompare(b.name))}
              keyOf={({ name }) => name}
              minWidth={600}
            />
          )}
          <Pushes />
          <Drafts />
          <Previews />
        </Stack>
      )}
    </>
  )
}

/** Nothing where none waits. Those that were decided are in the audit log. */
function Pushes() {
  const { data = [] } = useQuery(pushesQuery)
  const waiting = data.filter(({ status }) => status === 'waiting' || status === 'approved')
  if (waiting.length === 0) return null
  return (
    <section aria-label={applicationsTexts.pushes}>
      <Title order={2} size="h4">
        {applicationsTexts.pushes}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {applicationsTexts.pushesAbout}
      </Text>
      <CardTable
        label={applicationsTexts.pushes}
        columns={pushColumns}
        records={waiting}
        keyOf={({ guid }) => guid}
        minWidth={480}
      />
    </section>
  )
}

/** Nothing without drafts: most clusters have none. */
function Drafts() {
  const { data = [] } = useQuery(draftsQuery)
  if (data.length === 0) return null
  return (
    <section aria-label={applicationsTexts.drafts}>
      <Title order={2} size="h4">
        {applicationsTexts.drafts}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {applicationsTexts.draftsAbout}
      </Text>
      <CardTable
        label={applicationsTexts.drafts}
        columns={draftColumns}
        records={data.toSorted((a, b) => b.updated - a.updated)}
        keyOf={({ guid }) => guid}
        minWidth={520}
      />
    </section>
  )
}

const previewColumns: readonly Column<Preview>[] = [
  {
    id: 'preview',
    label: applicationsTexts.preview,
    render: ({ path }) => (
      <Anchor href={path} fw={600} size="sm" target="_blank" rel="noopener">
        {path}
      </Anchor>
    ),
  },
  { id: 'application', label: applicationsTexts.application, render: ({ application }) => application },
  { id: 'by', label: applicationsTexts.by, render: ({ by }) => by.username },
  { id: 'ends', label: applicationsTexts.ends, render: ({ until }) => <Time at={until} /> },
  {
    id: 'remove',
    label: '',
    render: ({ name }) => (
      <Button size="compact-sm" variant="default" onClick={() => askToRemove(name)}>
        {applicationsTexts.removePreview}
      </Button>
    ),
  },
]

function askToRemove(name: string): void {
  confirm({
    title: applicationsTexts.removePreviewTitle(name),
    text: applicationsTexts.removePreviewText,
    action: applicationsTexts.removePreview,
    run: () => removePreview(name),
  })
}

/** Nothing without one, as in a space, which has none. */
function Previews() {
  const { data: info } = useQuery(infoQuery)
  const { data = [] } = useQuery({
    ...previewsQuery,
    enabled: info !== undefined && info.flags.space !== true,
  })
  if (data.length === 0) return null
  return (
    <section aria-label={applicationsTexts.previews}>
      <Title order={2} size="h4">
        {applicationsTexts.previews}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {applicationsTexts.previewsAbout}
      </Text>
      <CardTable
        label={applicationsTexts.previews}
        columns={previewColumns}
        records={data}
        keyOf={({ name }) => name}
        minWidth={520}
      />
    </section>
  )
}

/** Nothing where no model is set, or the user may not use it. */
function Describe() {
  const { data } = useQuery(assistantQuery)
  const [isOpen, setOpen] = useState(false)
  if (data?.on !== true) return null
  return (
    <>
      <Button onClick={() => setOpen(true)}>{applicationsTexts.describe}</Button>
      <DescribeDrawer opened={isOpen} onClose={() => setOpen(false)} />
    </>
  )
}

/** A folder of this computer as a draft of the user, which has the plan. */
function PlanFolder() {
  const [, go] = useLocation()
  const [isReading, setReading] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const read = async (files: readonly File[]) => {
    if (files.length === 0) return
    setReading(true)
    try {
      const draft = await draftOfFolder(files)
      if (typeof draft === 'string') go(`/blueprints/applications/drafts/${draft}`)
      else notifyAbout(applicationsTexts.planFolder, applicationsTexts.sameAsLive(draft.same))
    } catch (error) {
      notifyFailed(applicationsTexts.couldNotPlan, error)
    } finally {
      setReading(false)
    }
  }
  return (
    <>
      <input
        ref={(element) => {
          input.current = element
          if (element) element.webkitdirectory = true
        }}
        type="file"
        hidden
        multiple
        aria-label={applicationsTexts.planFolder}
        onChange={(event) => void read([...(event.currentTarget.files ?? [])])}
      />
      <Button
        variant="default"
        leftSection={<Icon name="upload" size={16} />}
        loading={isReading}
        title={applicationsTexts.planFolderHelp}
        onClick={() => {
          if (input.current === null) return
          // The same folder can be chosen again after a file of it was corrected.
          input.current.value = ''
          input.current.click()
        }}
      >
        {isReading ? applicationsTexts.reading : applicationsTexts.planFolder}
      </Button>
    </>
  )
}

/** Gives the guid of the draft, or the name of the application that is the same as the folder. */
async function draftOfFolder(files: readonly File[]): Promise<string | { readonly same: string }> {
  const folder = await readFolderFiles(
    files.map((file) => ({
      path: file.webkitRelativePath,
      size: file.size,
      text: () => file.text(),
    })),
  )
  const name = nameInFolder(folder)
  const [applications, mine] = await Promise.all([listApplications(), myDraft(name)])
  const present = applications.some((one) => one.name === name)
    ? filesOf(normalApplication(await readContent(name)))
    : new Map<string, string>()
  const requests = inRequests(folderChanges(folder, present, mine?.paths ?? []))
  let guid = mine?.guid
  for (const changes of requests) guid = (await editDraft(name, changes)).guid
  return guid ?? { same: name }
}
