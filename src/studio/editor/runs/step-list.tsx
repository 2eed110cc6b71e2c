import { type KeyboardEvent, useEffect, useRef } from 'react'
import type { Run, Step } from '../../../shared/api/blueprints/runs.ts'
import { duration } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { runsTexts } from '../../texts/runs.ts'
import { stepName } from '../model/runs/run-labels.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { goToStep } from '../state/shown-run.ts'
import classes from './runs-panel.module.css'
import { StepValues } from './step-values.tsx'

interface StepListProps {
  readonly run: Run
  readonly at: number | undefined
}

/** The steps in their order. Arrows go up and down; the one that is looked at shows what went in and came out. */
export function StepList({ run, at }: StepListProps) {
  const editor = useEditor()
  const list = useRef<HTMLOListElement>(null)
  const rowAt = (index: number) => list.current?.querySelectorAll<HTMLElement>('button[data-step]')[index]
  useEffect(() => {
    if (at !== undefined) rowAt(at)?.scrollIntoView({ block: 'nearest' })
  })
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.dataset.step === undefined) return
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const from = Number(event.target.dataset.step)
    const to = Math.max(0, Math.min(run.steps.length - 1, from + by))
    goToStep(editor, to)
    rowAt(to)?.focus()
  }
  return (
    <ol ref={list} className={classes.steps} onKeyDown={onKeyDown}>
      {run.steps.map((step, index) => (
        <StepRow
          key={step.seq}
          step={step}
          index={index}
          isCurrent={index === at}
          isStanding={run.status === 'paused' && index === run.steps.length - 1}
          tabIndex={index === (at ?? 0) ? 0 : -1}
        />
      ))}
    </ol>
  )
}

interface StepRowProps {
  readonly step: Step
  readonly index: number
  readonly isCurrent: boolean
  /** The run stands still before it. */
  readonly isStanding: boolean
  readonly tabIndex: number
}

function StepRow({ step, index, isCurrent, isStanding, tabIndex }: StepRowProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const failed = step.error !== null
  return (
    <li>
      <button
        type="button"
        data-step={index}
        data-kind={step.kind}
        tabIndex={tabIndex}
        className={classes.step}
        aria-expanded={isCurrent}
        aria-current={isCurrent ? 'step' : undefined}
        style={{ paddingLeft: 8 + Math.min(step.frame, 4) * 10 }}
        onClick={() => goToStep(editor, isCurrent ? undefined : index)}
      >
        <span className={`${classes.number} numbers`} data-failed={failed || undefined}>
          {index + 1}
        </span>
        <span className={classes.name}>{stepName(step, flow, catalogue)}</span>
        {failed ? <Icon name="warning" size={13} /> : null}
        {step.next !== null && step.next !== 'flow' ? (
          <span className={classes.way} title={runsTexts.nextPin(step.next)}>
            → {step.next}
          </span>
        ) : null}
        <span className={`${classes.took} numbers`}>
          {isStanding ? runsTexts.paused : duration(step.us / 1_000)}
        </span>
      </button>
      {isCurrent ? <StepValues step={step} /> : null}
    </li>
  )
}
