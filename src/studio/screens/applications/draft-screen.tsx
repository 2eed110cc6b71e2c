import { Alert, Button, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import type { WholeDraft } from '../../../shared/api/blueprints/drafts.ts'
import { draftQuery, draftRelease, removeDraft } from '../../api/applications.ts'
import { confirm } from '../../controls/confirm.ts'
import { useTabTitle } from '../../controls/hooks.ts'
import { notifyDone } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { FailedScreen, LoadingScreen } from '../../controls/states.tsx'
import { ScrollText } from '../../controls/tags.tsx'
import { FlowDiffView } from '../../editor/bar/flow-diff-view.tsx'
import { diffFiles } from '../../editor/model/changes/flow-diff.ts'
import { applicationsTexts } from '../../texts/applications.ts'
import type { ScreenProps } from '../screen-props.ts'
import { authorOf } from './applications-screen.tsx'
import classes from './release-plan.module.css'
import { Lines, ReleasePlanView, StepList } from './release-plan.tsx'
import { stepOf } from './release-steps.ts'

const parent = { href: '/blueprints/applications', label: applicationsTexts.applications } as const

/** What a draft would change: read by a person, who releases it or takes it back. */
export function DraftScreen({ params: { guid = '' } }: ScreenProps) {
  const { data, error, refetch } = useQuery(draftQuery(guid))
  useTabTitle(data === undefined ? applicationsTexts.drafts : applicationsTexts.draftOf(data.application))
  if (error)
    return (
      <FailedScreen
        error={error}
        title={applicationsTexts.couldNotLoadDraft}
        parent={parent}
        onRetry={refetch}
      />
    )
  if (data === undefined) return <LoadingScreen />
  return <Opened draft={data} />
}

function Opened({ draft }: { readonly draft: WholeDraft }) {
  const [, go] = useLocation()
  const { guid, application, conflicts, problems, paths } = draft
  const errors = problems.filter(({ warning }) => warning === undefined)
  const warnings = problems.filter(({ warning }) => warning !== undefined)
  const isReleasable = conflicts.length === 0 && errors.length === 0
  const takeBack = () =>
    confirm({
      title: applicationsTexts.takeBackTitle(application),
      text: applicationsTexts.takeBackText,
      action: applicationsTexts.takeBack,
      run: async () => {
        await removeDraft(guid)
        notifyDone(applicationsTexts.takenBack)
        go('/blueprints/applications')
      },
    })
  return (
    <>
      <ScreenHead
        title={applicationsTexts.draftOf(application)}
        about={applicationsTexts.draftBy(authorOf(draft), paths.length)}
        parent={parent}
      >
        <Button variant="default" onClick={takeBack}>
          {applicationsTexts.takeBack}
        </Button>
      </ScreenHead>
      <Stack gap="md">
        {conflicts.length === 0 ? null : (
          <Alert color="red" variant="light" title={applicationsTexts.conflicts}>
            <Text size="sm" mb={6}>
              {applicationsTexts.conflictsText}
            </Text>
            <Lines lines={conflicts} />
          </Alert>
        )}
        <Problems problems={errors} title={applicationsTexts.problems} color="red" />
        <Problems problems={warnings} title={applicationsTexts.warningsOfFiles} color="sand" />
        <section className={`surface ${classes.panel}`}>
          <Title order={2} size="h4" mb="xs">
            {isReleasable ? applicationsTexts.plan : applicationsTexts.changesOfDraft}
          </Title>
          {isReleasable ? (
            <ReleasePlanView
              of={draftRelease(guid)}
              action={applicationsTexts.releaseNow}
              onDone={() => go(`/blueprints/applications/${application}`)}
            />
          ) : (
            <StepList steps={draft.changes.map(stepOf)} />
          )}
        </section>
        <ChangedFiles draft={draft} />
      </Stack>
    </>
  )
}

interface ProblemsProps {
  readonly problems: WholeDraft['problems']
  readonly title: string
  readonly color: string
}

function Problems({ problems, title, color }: ProblemsProps) {
  if (problems.length === 0) return null
  return (
    <Alert color={color} variant="light" title={title}>
      {color === 'red' ? (
        <Text size="sm" mb={6}>
          {applicationsTexts.problemsText}
        </Text>
      ) : null}
      <Lines lines={problems.map(problemLine)} />
    </Alert>
  )
}

function problemLine({ file, line, column, block, pin, message }: WholeDraft['problems'][number]): string {
  const part = [block, pin].filter(Boolean).join('.')
  return `${file}:${line}:${column}: ${part === '' ? '' : `${part}: `}${message}`
}

/** What differs from what is live, by block and pin; the whole text of each file is opened by a click. */
function ChangedFiles({ draft }: { readonly draft: WholeDraft }) {
  const title = applicationsTexts.filesOfDraft(authorOf(draft))
  return (
    <section className={`surface ${classes.panel}`} aria-label={title}>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      <Stack gap="sm">
        {draft.paths.map((path) => (
          <ChangedFile key={path} path={path} before={draft.live[path]} after={draft.files[path]} />
        ))}
      </Stack>
    </section>
  )
}

interface ChangedFileProps {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

function ChangedFile({ path, before, after }: ChangedFileProps) {
  const changes = useMemo(() => diffFiles(path, before, after), [path, before, after])
  const isGone = after === undefined
  return (
    <details open>
      <summary className={classes.file}>
        {isGone ? <del title={applicationsTexts.isRemoved}>{path}</del> : path}
      </summary>
      <FlowDiffView changes={changes} />
      {isGone ? null : (
        <details>
          <summary className={classes.file}>{applicationsTexts.wholeFile}</summary>
          <ScrollText label={path}>{after}</ScrollText>
        </details>
      )}
    </details>
  )
}
