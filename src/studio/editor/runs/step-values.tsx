import type { PinValues, Step } from '../../../shared/api/blueprints/runs.ts'
import { JsonView } from '../../controls/json/json-view.tsx'
import { runsTexts } from '../../texts/runs.ts'
import { glance, isCut } from '../model/runs/glance.ts'
import { useEditorState } from '../state/editor-context.ts'
import classes from './runs-panel.module.css'

/** What went into a block and what came out, pin by pin. */
export function StepValues({ step }: { readonly step: Step }) {
  const isDrawn = useEditorState(({ drawing }) => drawing.flow.has(step.block))
  return (
    <div className={classes.values}>
      {step.error === null ? null : <p className={classes.error}>{step.error}</p>}
      {step.note === null ? null : <p className={classes.note}>{step.note}</p>}
      <Pins title={runsTexts.in} values={step.in} empty={runsTexts.noInputs} />
      <Expressions expressions={step.expressions ?? []} />
      <Pins title={runsTexts.out} values={step.out} empty={step.error === null ? runsTexts.noOutputs : ''} />
      {isDrawn ? null : <p className={classes.note}>{runsTexts.notOnCanvas}</p>}
    </div>
  )
}

type StepExpression = NonNullable<Step['expressions']>[number]

/** Each evaluation with what it read. What the pin got of its value is among the inputs. */
function Expressions({ expressions }: { readonly expressions: readonly StepExpression[] }) {
  if (expressions.length === 0) return null
  return (
    <div>
      <h3 className={classes.subtitle}>{runsTexts.expressions}</h3>
      {expressions.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: evaluations of a step that is over never change their order.
        <div key={at} className={classes.expression}>
          <p className={classes.pin}>
            {one.pin} <code className={classes.source}>={one.text}</code>
          </p>
          {Object.entries(one.names).map(([name, value]) => (
            <PinRow key={name} pin={name} value={value} title={runsTexts.readBy(one.pin)} />
          ))}
          {one.error === undefined ? (
            <PinRow pin="→" value={one.value} title={runsTexts.valueOf(one.pin)} />
          ) : (
            <p className={classes.error}>{one.error}</p>
          )}
        </div>
      ))}
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
          {pin} <code>{runsTexts.valueCut(glance(value))}</code>
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
