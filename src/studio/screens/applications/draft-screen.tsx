import { Alert, Button, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { WholeDraft } from '../../../shared/api/blueprints/drafts.ts'
import { draftQuery, draftRelease, removeDraft } from '../../api/applications.ts'
import { confirm } from '../../controls/confirm.ts'
import { useTabTitle } from '../../controls/hooks.ts'
import { notifyDone } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { FailedScreen, LoadingScreen } from '../../controls/states.tsx'
import { ScrollText } from '../../controls/tags.tsx'
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

/** Their texts as the draft has them, each opened by a click. */
function ChangedFiles({ draft: { paths, files } }: { readonly draft: WholeDraft }) {
  return (
    <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.filesOfDraft}>
      <Title order={2} size="h4" mb="xs">
        {applicationsTexts.filesOfDraft}
      </Title>
      <Stack gap={4}>
        {paths.map((path) => (
          <ChangedFile key={path} path={path} text={files[path]} />
        ))}
      </Stack>
    </section>
  )
}

function ChangedFile({ path, text }: { readonly path: string; readonly text: string | undefined }) {
  if (text === undefined)
    return (
      <Text className={classes.file} td="line-through" title={applicationsTexts.isRemoved}>
        {path}
      </Text>
    )
  return (
    <details>
      <summary className={classes.file}>{path}</summary>
      <ScrollText label={path}>{text}</ScrollText>
    </details>
  )
}
