import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { type UndoneParts, undoQuery, undoRun } from '../api/storages.ts'
import { runsTexts } from '../texts/runs.ts'
import { controlsTexts } from '../texts/shell.ts'
import { notifyDone } from './notify.ts'
import { ErrorNotice, LoadingScreen } from './states.tsx'

const MOST_SHOWN = 20

interface UndoRunProps extends Pick<ButtonProps, 'size' | 'variant' | 'ml'> {
  /** Its guid in the history of documents. */
  readonly run: string
  /** What a person calls a block that reached outside; its guid without it. */
  readonly blockName?: (block: string) => string
}

/** Shows first what would be undone, and what stays because others have changed it since. */
export function UndoRun({ run, blockName, ...look }: UndoRunProps) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Button {...look} onClick={() => setOpen(true)}>
        {runsTexts.undoRun}
      </Button>
      <Modal opened={isOpen} onClose={close} title={runsTexts.undoRun} size="lg">
        {isOpen ? <Plan run={run} blockName={blockName} onClose={close} /> : null}
      </Modal>
    </>
  )
}

interface PlanProps {
  readonly run: string
  readonly blockName: UndoRunProps['blockName']
  readonly onClose: () => void
}

function Plan({ run, blockName, onClose }: PlanProps) {
  const client = useQueryClient()
  const { data, error, refetch } = useQuery(undoQuery(run))
  const undo = useMutation({
    mutationFn: (leaveChanged: boolean) => undoRun(run, leaveChanged),
    async onSuccess({ count, left }) {
      onClose()
      notifyDone(runsTexts.undone(count, left))
      await client.invalidateQueries({ queryKey: ['documents'] })
    },
    // Another user may have changed a document while the plan was read.
    onError: () => refetch(),
  })
  if (error) return <ErrorNotice error={error} title={runsTexts.couldNotPlanUndo} />
  if (!data) return <LoadingScreen />
  const { count, left } = data
  return (
    <Stack gap="md">
      <Planned undo={data} blockName={blockName} />
      {undo.error instanceof ApiError && undo.error.status === 409 && left > 0 ? (
        <Text size="sm" role="alert">
          {runsTexts.undoChangedMeanwhile}
        </Text>
      ) : (
        <ErrorNotice error={undo.error} title={runsTexts.couldNotUndo} />
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {controlsTexts.cancel}
        </Button>
        <Button
          color="red"
          loading={undo.isPending}
          disabled={count === 0}
          onClick={() => undo.mutate(left > 0)}
        >
          {left > 0 && count > 0 ? runsTexts.undoOthers : runsTexts.undo}
        </Button>
      </Group>
    </Stack>
  )
}

type PlannedProps = Pick<PlanProps, 'blockName'> & { readonly undo: UndoneParts }

function Planned({ undo, blockName }: PlannedProps) {
  const { documents, count, left, jobs, begun, outside, parts } = undo
  const problems = documents.filter(({ problem }) => problem !== null)
  const others = documents.filter(({ problem }) => problem === null)
  const effects = [
    ...(outside ?? []).map(({ block, times }) => ({
      key: block,
      text: runsTexts.undoTimes(blockName?.(block) ?? block, times),
    })),
    ...(begun ?? []).map(({ guid, title, state }) => ({
      key: guid,
      text: runsTexts.undoBegun(title, state),
    })),
  ]
  return (
    <>
      {left === 0 ? null : (
        <Section title={runsTexts.undoConflicts(left)} total={left}>
          {problems.map((one) => (
            <Line key={`${one.storage} ${one.document}`} {...one}>
              <Text span c="var(--mantine-color-error)" inherit>
                {one.problem}
              </Text>
            </Line>
          ))}
        </Section>
      )}
      <Section
        title={count === 0 ? runsTexts.undoNothing : runsTexts.undoCount(count)}
        total={Math.max(count, others.length)}
      >
        {others.map((one) => (
          <Line key={`${one.storage} ${one.document}`} {...one}>
            {runsTexts.undoActions[one.action]}
          </Line>
        ))}
      </Section>
      {left === 0 && jobs.length > 0 ? (
        <Section title={runsTexts.undoJobs(jobs.length)} total={jobs.length}>
          {jobs.map(({ guid, title }) => (
            <li key={guid}>{title}</li>
          ))}
        </Section>
      ) : null}
      {parts === 1 ? null : <Text size="sm">{runsTexts.undoParts(parts)}</Text>}
      {effects.length === 0 ? null : (
        <Section title={runsTexts.undoOutside} total={effects.length}>
          {effects.map(({ key, text }) => (
            <li key={key}>{text}</li>
          ))}
        </Section>
      )}
      {outside === null ? <Text size="sm">{runsTexts.undoUnknown}</Text> : null}
      {begun === null ? <Text size="sm">{runsTexts.undoUnknownJobs}</Text> : null}
    </>
  )
}

interface SectionProps {
  readonly title: string
  readonly total: number
  readonly children: readonly ReactNode[]
}

function Section({ title, total, children }: SectionProps) {
  const shown = children.slice(0, MOST_SHOWN)
  return (
    <section>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      <Stack
        component="ul"
        gap={4}
        p={0}
        m={0}
        fz="sm"
        style={{ listStyle: 'none', overflowWrap: 'anywhere' }}
      >
        {shown}
        {total > shown.length ? <li>{runsTexts.undoMore(total - shown.length)}</li> : null}
      </Stack>
    </section>
  )
}

interface LineProps {
  readonly storage: string
  readonly document: string
  readonly children: ReactNode
}

function Line({ storage, document, children }: LineProps) {
  return (
    <li>
      <b>{storage}</b>{' '}
      <Text span size="xs" c="dimmed" ff="monospace">
        {document}
      </Text>{' '}
      {children}
    </li>
  )
}
