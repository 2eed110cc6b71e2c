import { Badge, Button, Code, CopyButton, Group, Modal, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApplicationRecord, Release } from '../../../shared/api/blueprints/applications.ts'
import { applicationsQuery, formerRelease, readContent, releasesQuery } from '../../api/applications.ts'
import { CopyAction } from '../../controls/actions.tsx'
import { Facts } from '../../controls/facts.tsx'
import { useTabTitle } from '../../controls/hooks.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { applicationsTexts } from '../../texts/applications.ts'
import type { ScreenProps } from '../screen-props.ts'
import classes from './release-plan.module.css'
import { ReleasePlanView, StepList } from './release-plan.tsx'
import { aboutLists, driftOf, stepOf } from './release-steps.ts'
import { TestReports } from './test-reports.tsx'

const parent = { href: '/blueprints/applications', label: applicationsTexts.applications } as const

/** One application: what was changed since its release, and its releases. */
export function ApplicationScreen({ params: { name = '' } }: ScreenProps) {
  const { data, error, refetch } = useQuery(applicationsQuery)
  useTabTitle(name)
  if (error) return <ErrorNotice error={error} title={applicationsTexts.couldNotLoad} onRetry={refetch} />
  if (data === undefined) return <LoadingScreen />
  const found = data.find((one) => one.name === name)
  if (found === undefined) return <ScreenHead title={applicationsTexts.notThere(name)} parent={parent} />
  return <Opened application={found} />
}

function Opened({ application }: { readonly application: ApplicationRecord }) {
  const { name, title, release } = application
  const [back, setBack] = useState<number>()
  return (
    <>
      <ScreenHead title={<bdi>{title || name}</bdi>} about={name} parent={parent} />
      <Stack gap="md">
        <Content application={application} onUndo={() => setBack(release)} />
        <Releases application={application} onBack={setBack} />
        <Promotion name={name} release={release} />
        <TestReports name={name} release={release} />
      </Stack>
      <RollBackDialog application={application} release={back} onClose={() => setBack(undefined)} />
    </>
  )
}

interface ContentProps {
  readonly application: ApplicationRecord
  readonly onUndo: () => void
}

/** Both contents are read once for the facts and the drift. */
function Content({ application, onUndo }: ContentProps) {
  const { name, version, release, released, modified_by } = application
  const { data, error, refetch } = useQuery({
    queryKey: ['applications', 'drift', name, release],
    queryFn: ({ signal }) =>
      Promise.all([readContent(name, release, signal), readContent(name, undefined, signal)]),
  })
  const { uses = [], offers = [], needs = [] } = data ? aboutLists(data[1]) : {}
  return (
    <>
      <div className={`surface ${classes.panel}`}>
        <Facts
          facts={{
            [applicationsTexts.release]: release,
            [applicationsTexts.version]: version,
            [applicationsTexts.released]: <Time at={released} exact />,
            [applicationsTexts.by]: modified_by.username,
            [applicationsTexts.needs]: needs.join(', '),
            [applicationsTexts.uses]: uses.join(', '),
            [applicationsTexts.offers]: offers.join(', '),
          }}
        />
      </div>
      <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.drift(release)}>
        <Title order={2} size="h4" mb={4}>
          {applicationsTexts.drift(release)}
        </Title>
        {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
        {data === undefined ? (
          error ? null : (
            <LoadingScreen />
          )
        ) : (
          <Drift name={name} release={release} steps={driftOf(data[0], data[1])} onUndo={onUndo} />
        )}
      </section>
    </>
  )
}

interface DriftProps {
  readonly name: string
  readonly release: number
  readonly steps: ReturnType<typeof driftOf>
  readonly onUndo: () => void
}

function Drift({ name, release, steps, onUndo }: DriftProps) {
  if (steps.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {applicationsTexts.noDrift(release)}
      </Text>
    )
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {applicationsTexts.driftText(name)}
      </Text>
      <StepList steps={steps} />
      <Group>
        <Button variant="default" size="compact-sm" onClick={onUndo}>
          {applicationsTexts.undoDrift}
        </Button>
      </Group>
    </Stack>
  )
}

/** An application has up to 1,000. */
const SHOWN = 20

interface ReleasesProps {
  readonly application: ApplicationRecord
  readonly onBack: (release: number) => void
}

function Releases({ application: { name, release }, onBack }: ReleasesProps) {
  const { data, error, refetch } = useQuery(releasesQuery(name))
  const [isAll, setAll] = useState(false)
  return (
    <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.releases}>
      <Title order={2} size="h4">
        {applicationsTexts.releases}
      </Title>
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      <ul className={classes.releases}>
        {(isAll ? data : data?.slice(0, SHOWN))?.map((one) => (
          <OneRelease key={one.number} release={one} isPresent={one.number === release} onBack={onBack} />
        ))}
      </ul>
      {isAll || data === undefined || data.length <= SHOWN ? null : (
        <Button size="compact-sm" variant="subtle" onClick={() => setAll(true)}>
          {applicationsTexts.showAll(data.length)}
        </Button>
      )}
    </section>
  )
}

interface OneReleaseProps {
  readonly release: Release
  readonly isPresent: boolean
  readonly onBack: (release: number) => void
}

function OneRelease({ release, isPresent, onBack }: OneReleaseProps) {
  const { number, version, released, by, steps, lost } = release
  return (
    <li aria-label={applicationsTexts.releaseNumber(number)}>
      <Group justify="space-between" gap="xs" pt="sm">
        <Group gap="xs">
          <Text fw={600} size="sm">
            {applicationsTexts.releaseNumber(number)}
          </Text>
          {version === '' ? null : <Badge color="gray">{version}</Badge>}
          {isPresent ? <Badge color="green">{applicationsTexts.present}</Badge> : null}
          <Text size="xs" c="dimmed">
            <Time at={released} /> · {by.username}
          </Text>
        </Group>
        {isPresent ? null : (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={applicationsTexts.rollBackTo(number)}
            onClick={() => onBack(number)}
          >
            {applicationsTexts.rollBack}
          </Button>
        )}
      </Group>
      {steps.length === 0 ? (
        <Text size="sm" c="dimmed" pb="sm">
          {applicationsTexts.nothingChanged}
        </Text>
      ) : (
        <StepList steps={steps.map(stepOf)} />
      )}
      {lost.length === 0 ? null : (
        <Text size="xs" c="red" pb="sm">
          {applicationsTexts.deletedWith}: {lost.join(' ')}
        </Text>
      )}
    </li>
  )
}

/** Other clusters are known to the command line only, with the sign-ins for them. */
function Promotion({ name, release }: Pick<ApplicationRecord, 'name' | 'release'>) {
  const commands = applicationsTexts.promoteCommands(name, location.origin)
  return (
    <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.promote(release)}>
      <Title order={2} size="h4" mb={4}>
        {applicationsTexts.promote(release)}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {applicationsTexts.promoteText(release)}
      </Text>
      <Group align="start" gap="xs" wrap="nowrap">
        <Code block flex={1} miw={0} tabIndex={0} aria-label={applicationsTexts.commands}>
          {commands}
        </Code>
        <CopyButton value={commands}>{(state) => <CopyAction {...state} />}</CopyButton>
      </Group>
    </section>
  )
}

interface RollBackProps {
  readonly application: ApplicationRecord
  /** undefined: closed. */
  readonly release: number | undefined
  readonly onClose: () => void
}

/** Asks with the plan: what differs, what would be lost, and whether it is possible. */
function RollBackDialog({ application: { name, release: present }, release, onClose }: RollBackProps) {
  const isUndo = release === present
  const title =
    release === undefined
      ? ''
      : isUndo
        ? applicationsTexts.undoDriftTitle(release)
        : applicationsTexts.rollBackTitle(release)
  return (
    <Modal opened={release !== undefined} onClose={onClose} title={title} size={760}>
      {release === undefined ? null : (
        <ReleasePlanView
          of={formerRelease(name, release)}
          action={isUndo ? applicationsTexts.undoDrift : applicationsTexts.rollBack}
          about={(plan) => applicationsTexts.rollBackText(release, plan.release)}
          onDone={onClose}
        />
      )}
    </Modal>
  )
}
