import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Time } from '../../controls/time.tsx'
import { propertiesTexts } from '../../texts/properties.ts'
import { runQuery } from '../runs/run-queries.ts'
import { StepValues } from '../runs/step-values.tsx'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { goToStep, showRun } from '../state/shown-run.ts'
import { lastWords } from '../values/last-values.ts'
import { useLastValues } from '../values/use-last-values.ts'
import classes from './properties.module.css'

/** The values of a block in the last run that passed it, whole; nothing while a run is shown, whose steps have them. */
export function LastBlockValues({ guid }: { readonly guid: string }) {
  const editor = useEditor()
  const isRunShown = useEditorState((state) => state.shownRun !== undefined)
  const last = useLastValues().get(guid)
  const { data: run } = useQuery({
    ...runQuery(last?.run.guid ?? ''),
    enabled: last !== undefined && !isRunShown,
  })
  if (!last || isRunShown) return null
  const step = run?.steps[last.step.at]
  return (
    <section className={classes.section} aria-label={propertiesTexts.lastValues}>
      <h2 className={classes.sectionTitle}>{propertiesTexts.lastValues}</h2>
      <p className={classes.help}>
        {lastWords[last.run.recorded_as]}, <Time at={Date.parse(last.run.started) / 1_000} />
        {last.isChanged ? propertiesTexts.changedSinceThen : ''}{' '}
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => {
            showRun(editor, last.run.guid)
            goToStep(editor, last.step.at)
          }}
        >
          {propertiesTexts.showTheRun}
        </Button>
      </p>
      {step ? <StepValues step={step} /> : null}
    </section>
  )
}
