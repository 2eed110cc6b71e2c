import { Alert, Anchor, Badge, Button, Checkbox, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Preparing, Released, ReleasePlan } from '../../../shared/api/blueprints/applications.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { ApiError } from '../../api/api-error.ts'
import { type PushWords, pushUntilLive, type Releasable } from '../../api/applications.ts'
import { notifyAbout, notifyDone } from '../../controls/notify.ts'
import { ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import diff from '../../editor/bar/flow-diff-view.module.css'
import { applicationsTexts } from '../../texts/applications.ts'
import { barTexts } from '../../texts/bar.ts'
import classes from './release-plan.module.css'
import { type Step, stepsOf } from './release-steps.ts'

interface ReleasePlanProps {
  readonly of: Releasable
  /** The verb on the button. */
  readonly action: string
  /** Above the plan, which has the number of the release. */
  readonly about?: (plan: ReleasePlan) => string
  /** The plan is decided and not made again; what it loses was allowed by who pushed. */
  readonly isFinal?: boolean
  readonly onDone: (released: Released) => void
}

/** What a push would do, and the button that does it. A plan of a cluster that was changed meanwhile is made again. */
export function ReleasePlanView({ of, action, about, isFinal = false, onDone }: ReleasePlanProps) {
  const [isNew, setNew] = useState(false)
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['plan', ...of.key],
    queryFn: () => of.plan(),
    // It is what a person reads before they decide: it changes when it is asked for.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  })
  const again = () => void refetch()
  if (error) return <PlanError error={error} onRetry={again} />
  if (data === undefined) return <LoadingScreen />
  return (
    <Stack gap="md">
      {isNew ? (
        <Alert color="sand" title={applicationsTexts.planChanged}>
          {applicationsTexts.planChangedText}
        </Alert>
      ) : null}
      <Text size="sm">{(about ?? (({ release }) => applicationsTexts.planAsRelease(release)))(data)}</Text>
      <PlanLines plan={data} />
      {data.steps.length === 0 ? (
        <Text size="sm">{applicationsTexts.nothingToDo}</Text>
      ) : (
        <PushForm
          key={data.state}
          of={of}
          plan={data}
          action={action}
          isPlanning={isFetching}
          isFinal={isFinal}
          onPlan={again}
          onChanged={() => {
            setNew(true)
            again()
          }}
          onDone={onDone}
        />
      )}
    </Stack>
  )
}

/** Every problem, not the first alone: the server lists them in the details. */
function PlanError({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const details = error instanceof ApiError ? error.details.problems : undefined
  const problems = Array.isArray(details) ? details.map(String) : []
  return (
    <Stack gap="sm">
      <ErrorNotice error={error} onRetry={onRetry} />
      {problems.length > 1 ? <Lines lines={problems} /> : null}
    </Stack>
  )
}

/** What hurts first, then what changes. */
export function PlanLines({ plan }: { readonly plan: ReleasePlan }) {
  return (
    <>
      <Notice color="red" title={applicationsTexts.refused} lines={plan.refused} />
      <Notice color="red" title={applicationsTexts.lost} lines={plan.lost} />
      <Notice
        color="sand"
        title={applicationsTexts.breaking}
        lines={plan.breaking}
        about={applicationsTexts.breakingText}
      />
      <Notice color="sand" title={applicationsTexts.missing} lines={plan.missing} about={<MissingHelp />} />
      <Notice color="gray" title={applicationsTexts.warnings} lines={plan.warnings} />
      {plan.steps.length === 0 ? null : (
        <section aria-label={applicationsTexts.steps}>
          <Title order={3} size="h5" mb="xs">
            {applicationsTexts.steps}
          </Title>
          <StepList steps={stepsOf(plan)} />
        </section>
      )}
    </>
  )
}

function MissingHelp() {
  return (
    <>
      {applicationsTexts.missingText}{' '}
      {(
        [
          ['/operate/environment', applicationsTexts.environment],
          ['/operate/secrets', applicationsTexts.secrets],
          ['/operate/connections', applicationsTexts.connections],
        ] as const
      ).map(([href, label]) => (
        <Anchor key={href} component={Link} href={href} size="sm" mr={8} underline="always">
          {label}
        </Anchor>
      ))}
    </>
  )
}

interface NoticeProps {
  readonly color: string
  readonly title: string
  readonly lines: readonly string[]
  readonly about?: ReactNode
}

function Notice({ color, title, lines, about }: NoticeProps) {
  if (lines.length === 0) return null
  return (
    <Alert color={color} variant="light" title={title}>
      {about === undefined ? null : (
        <Text size="sm" mb={6}>
          {about}
        </Text>
      )}
      <Lines lines={lines} />
    </Alert>
  )
}

/** Of a long plan; a plan may have thousands. */
const SHOWN = 50

export function Lines({ lines }: { readonly lines: readonly string[] }) {
  const [isAll, setAll] = useState(false)
  return (
    <>
      <ul className={classes.lines}>
        {(isAll ? lines : lines.slice(0, SHOWN)).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <MoreLines count={lines.length} isAll={isAll} onAll={() => setAll(true)} />
    </>
  )
}

interface MoreLinesProps {
  readonly count: number
  readonly isAll: boolean
  readonly onAll: () => void
}

function MoreLines({ count, isAll, onAll }: MoreLinesProps) {
  if (isAll || count <= SHOWN) return null
  return (
    <Button size="compact-sm" variant="subtle" onClick={onAll}>
      {applicationsTexts.showChanges(count)}
    </Button>
  )
}

const colors = {
  created: 'petrol',
  adopted: 'petrol',
  changed: 'sand',
  renamed: 'sand',
  deployed: 'gray',
  other: 'gray',
  removed: 'red',
} as const

/** What changes, an object a line, with its parts below it. */
export function StepList({ steps }: { readonly steps: readonly Step[] }) {
  const [isAll, setAll] = useState(false)
  return (
    <>
      <ul className={classes.steps}>
        {(isAll ? steps : steps.slice(0, SHOWN)).map((step) => (
          <li key={`${step.change} ${step.what}`} data-change={step.change}>
            <span className={classes.change}>
              <Badge size="sm" color={colors[step.change]}>
                {applicationsTexts.changes[step.change]}
              </Badge>
            </span>
            <div className={classes.words}>
              <bdi>{step.what}</bdi>
              {step.parts.length === 0 ? null : (
                <Text size="xs" c="dimmed">
                  {step.parts.join(', ')}
                </Text>
              )}
              <StepValues values={step.values} isCut={step.isCut} />
              {step.meaning === '' ? null : <Text size="xs">{step.meaning}</Text>}
            </div>
          </li>
        ))}
      </ul>
      <MoreLines count={steps.length} isAll={isAll} onAll={() => setAll(true)} />
    </>
  )
}

/** What differs: the server and the drift cut each text around the first difference. */
function StepValues({ values, isCut }: Pick<Step, 'values' | 'isCut'>) {
  if (values.length === 0 && !isCut) return null
  return (
    <>
      <table className={diff.lines}>
        <tbody>
          {values.map(({ what, before, after }) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              <td>
                {before === '' ? null : (
                  <>
                    <del>{before}</del>
                    <span aria-hidden="true"> → </span>
                  </>
                )}
                {after === '' ? <i>{applicationsTexts.nothing}</i> : <ins>{after}</ins>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isCut ? <Text size="xs">{applicationsTexts.moreValues}</Text> : null}
    </>
  )
}

interface PushFormProps extends Pick<ReleasePlanProps, 'of' | 'action' | 'onDone'> {
  readonly plan: ReleasePlan
  readonly isPlanning: boolean
  readonly isFinal: boolean
  readonly onPlan: () => void
  readonly onChanged: () => void
}

function PushForm({ of, plan, action, isPlanning, isFinal, onPlan, onChanged, onDone }: PushFormProps) {
  const [, go] = useLocation()
  const [words, setWords] = useState<PushWords>({ allowLoss: false, moveWaits: false, accepted: undefined })
  const [preparing, setPreparing] = useState<Preparing['preparing']>([])
  const [differences, setDifferences] = useState<readonly RunDifference[]>([])
  const left = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    left.current = controller
    return () => controller.abort()
  }, [])
  const push = useMutation({
    mutationFn: () =>
      pushUntilLive(of, plan, words, { onProgress: setPreparing, signal: left.current.signal }),
    onSuccess: (released) => {
      if (!('problems' in released)) {
        go(`/blueprints/applications/pushes/${released.guid}`)
        return
      }
      notifyDone(applicationsTexts.isLive(released.release, released.application))
      const about = [...(released.verified ?? []).map(applicationsTexts.verified), ...movedIn(released)]
      if (about.length > 0) notifyAbout(applicationsTexts.beforeLive, about.join(' '))
      if (released.problems.length > 0)
        notifyAbout(applicationsTexts.documentsRefused, released.problems.join(' '))
      onDone(released)
    },
    onError: (error) => {
      if (!(error instanceof ApiError)) return
      setDifferences(differencesIn(error.details.differences))
      if (error.details.planned === false) onChanged()
    },
  })
  const hasLoss = plan.lost.length > 0
  return (
    <Stack gap="sm">
      <PushChoices plan={plan} isFinal={isFinal} words={words} onChange={setWords} />
      {words.accepted === undefined ? null : (
        <Differences differences={differences} words={words} onChange={setWords} />
      )}
      {preparing.length > 0 && push.isPending ? <PreparingNote preparing={preparing} /> : null}
      <ErrorNotice error={isRefusedByRuns(push.error) ? undefined : push.error} />
      <Group gap="xs" justify="flex-end">
        {isFinal ? null : (
          <Button variant="default" disabled={push.isPending} loading={isPlanning} onClick={onPlan}>
            {applicationsTexts.planAgain}
          </Button>
        )}
        <Button
          color={hasLoss ? 'red' : 'petrol'}
          disabled={plan.refused.length > 0 || (hasLoss && !words.allowLoss) || isPlanning}
          loading={push.isPending}
          onClick={() => push.mutate()}
        >
          {action}
        </Button>
      </Group>
    </Stack>
  )
}

function movedIn({ moved_waits: moved }: Released): string[] {
  return moved > 0 ? [applicationsTexts.movedWaits(moved)] : []
}

interface ChoicesProps {
  readonly words: PushWords
  readonly onChange: (words: PushWords) => void
}

/** What the plan leaves to a person: the others are done as the plan says. */
function PushChoices({
  plan,
  isFinal,
  words,
  onChange,
}: ChoicesProps & { readonly plan: ReleasePlan; readonly isFinal: boolean }) {
  const isVerifiable = plan.steps.some((step) => step.startsWith('changed blueprints/'))
  return (
    <>
      {plan.lost.length === 0 ? null : (
        <Checkbox
          label={applicationsTexts.allowLoss}
          checked={words.allowLoss}
          onChange={(event) => onChange({ ...words, allowLoss: event.currentTarget.checked })}
        />
      )}
      {isFinal || plan.movable_waits === 0 ? null : (
        <Checkbox
          label={applicationsTexts.moveWaits(plan.movable_waits)}
          description={applicationsTexts.moveWaitsHelp}
          checked={words.moveWaits}
          onChange={(event) => onChange({ ...words, moveWaits: event.currentTarget.checked })}
        />
      )}
      {isVerifiable && !isFinal ? (
        <Checkbox
          label={applicationsTexts.verify}
          description={applicationsTexts.verifyHelp}
          checked={words.accepted !== undefined}
          onChange={(event) => onChange({ ...words, accepted: event.currentTarget.checked ? [] : undefined })}
        />
      ) : null}
    </>
  )
}

interface RunDifference {
  readonly key: string
  readonly text: string
}

/** Said by the list of differences. */
function isRefusedByRuns(error: unknown): boolean {
  return error instanceof ApiError && differencesIn(error.details.differences).length > 0
}

/** Of a push that is refused. */
function differencesIn(details: unknown): RunDifference[] {
  if (!Array.isArray(details)) return []
  return details.filter(isJsonObject).map(({ key, file, label, kind, paths }) => {
    const kinds: Readonly<Record<string, string>> = barTexts.differenceKinds
    const places = Array.isArray(paths) ? paths.join(', ') : ''
    const what = [label, kinds[String(kind)], places].filter(Boolean).join(': ')
    return { key: String(key), text: `${file}: ${what}` }
  })
}

/** Each is accepted by itself; the push that follows is with all that are. */
function Differences({
  differences,
  words,
  onChange,
}: ChoicesProps & { readonly differences: readonly RunDifference[] }) {
  const accepted = words.accepted ?? []
  if (differences.length === 0) return null
  return (
    <Checkbox.Group
      label={applicationsTexts.differences}
      description={applicationsTexts.differencesHelp}
      value={[...accepted]}
      onChange={(keys) => onChange({ ...words, accepted: keys })}
    >
      <Stack gap={4} mt={6}>
        {differences.map(({ key, text }) => (
          <Checkbox key={key} value={key} label={text} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}

function PreparingNote({ preparing }: { readonly preparing: Preparing['preparing'] }) {
  return (
    <Alert color="petrol" variant="light" role="status">
      <Text size="sm">{applicationsTexts.preparing}</Text>
      {preparing.map(({ storage, field, done, documents }) => {
        const words = applicationsTexts.preparingLine(storage, field, done, documents)
        return (
          <div key={`${storage} ${field}`}>
            <Text size="sm">{words}</Text>
            <Progress value={documents === 0 ? 100 : (done / documents) * 100} aria-label={words} />
          </div>
        )
      })}
    </Alert>
  )
}
