import type { PinValues, Step } from '../../../shared/api/runs.ts'
import { JsonView } from '../../controls/json/json-view.tsx'
import { glance, isCut } from '../model/glance.ts'
import { useEditorState } from '../state/editor-context.ts'
import classes from './runs-panel.module.css'

/** What went into a block and what came out, pin by pin. */
export function StepValues({ step }: { readonly step: Step }) {
  const isDrawn = useEditorState(({ drawing }) => drawing.flow.has(step.block))
  return (
    <div className={classes.values}>
      {step.error === null ? null : <p className={classes.error}>{step.error}</p>}
      {step.note === null ? null : <p className={classes.note}>{step.note}</p>}
      <Pins title="In" values={step.in} empty="No inputs." />
      <Pins title="Out" values={step.out} empty={step.error === null ? 'No outputs.' : ''} />
      {isDrawn ? null : <p className={classes.note}>This block is not on this canvas.</p>}
    </div>
  )
}

interface PinsProps {
  readonly title: string
  readonly values: PinValues
  readonly empty: string
}

function Pins({ title, values, empty }: PinsProps) {
  const pins = Object.entries(values)
  if (pins.length === 0 && empty === '') return null
  return (
    <div>
      <h3 className={classes.subtitle}>{title}</h3>
      {pins.length === 0 ? <p className={classes.note}>{empty}</p> : null}
      {pins.map(([pin, value]) => (
        <PinRow key={pin} pin={pin} value={value} title={title} />
      ))}
    </div>
  )
}

function PinRow({
  pin,
  value,
  title,
}: {
  readonly pin: string
  readonly value: unknown
  readonly title: string
}) {
  if (isCut(value))
    return (
      <details className={classes.pin}>
        <summary>
          {pin} <code>{glance(value)}, only the beginning is recorded</code>
        </summary>
        <pre className={classes.beginning}>{value.$cut}</pre>
      </details>
    )
  const isShort = typeof value !== 'object' || value === null
  if (isShort && JSON.stringify(value).length <= MOST_IN_LINE)
    return (
      <p className={classes.pin}>
        {pin} <code>{JSON.stringify(value)}</code>
      </p>
    )
  return (
    <details className={classes.pin} open>
      <summary>
        {pin} <code>{glance(value, 30)}</code>
      </summary>
      <JsonView value={value} label={`${title}: ${pin}`} />
    </details>
  )
}

const MOST_IN_LINE = 34
