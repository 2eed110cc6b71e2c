import { ActionIcon, Tooltip } from '@mantine/core'
import type { InPin } from '../../../shared/api/blocks.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { canConvert } from '../../../shared/pin-type.ts'
import { Icon } from '../../controls/icon.tsx'
import { nameOf } from '../model/block-names.ts'
import { inPinOf } from '../model/flow.ts'
import { disconnect, setLiteral } from '../model/flow-changes.ts'
import { pinsOf } from '../model/pins.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { LiteralInput } from './literal-input.tsx'
import { ProblemNote } from './problem-note.tsx'
import classes from './properties.module.css'
import { SourcePicker } from './source-picker.tsx'
import { useFieldFocus } from './use-field-focus.ts'

interface PinFieldProps {
  readonly guid: string
  readonly pin: string
  readonly kind: InPin
  readonly content: BlockContent
  readonly problem: string | undefined
}

/** One in-pin: the wires that end there, or the value it holds. */
export function PinField({ guid, pin, kind, content, problem }: PinFieldProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const saved = inPinOf(content, pin)
  const wires = saved?.from ?? []
  const holdsValue = canConvert('any', kind.type) && !kind.perFrame
  // The field of a pin that holds a value takes the keyboard itself.
  const ref = useFieldFocus<HTMLDivElement>(wires.length === 0 && holdsValue ? `${pin}:` : pin)
  const takesMore = wires.length === 0 || kind.several === true || kind.type === 'flow'
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset brings a frame and a legend of its own
    <div
      ref={ref}
      tabIndex={-1}
      role="group"
      aria-label={`${pin}, ${kind.type}${kind.required ? ', needed' : ''}`}
    >
      <div className={classes.pinHead}>
        <PinMark type={kind.type} full={wires.length > 0 || saved?.value !== undefined} />
        {pin}
        {kind.required ? (
          <span title="Needed" style={{ color: 'var(--mantine-color-error)' }}>
            *
          </span>
        ) : null}
        <span className={classes.pinType}>
          {kind.type}
          {kind.several ? ', several' : ''}
        </span>
        <span className={classes.pinActions}>
          {takesMore ? <SourcePicker guid={guid} pin={pin} /> : null}
        </span>
      </div>
      <div className={classes.wires}>
        {wires.map((end) => {
          const source = flow.get(end.block)
          const out = source && pinsOf(source, catalogue).out.get(end.pin)
          const name = source ? nameOf(source, catalogue) : 'a removed block'
          return (
            <div key={`${end.block} ${end.pin}`} className={classes.wire}>
              {out ? <PinMark type={out.type} size={10} /> : null}
              <button
                type="button"
                className={classes.wireName}
                title={`Go to ${name}`}
                onClick={() => editor.focusPin(end.block, '')}
              >
                {name} · {end.pin}
              </button>
              <Tooltip label="Remove wire">
                <ActionIcon
                  size="xs"
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove the wire from ${name}, ${end.pin}`}
                  onClick={() =>
                    editor.run('Remove wire', (now) =>
                      disconnect(now, { from: end, to: { block: guid, pin } }),
                    )
                  }
                >
                  <Icon name="close" size={11} />
                </ActionIcon>
              </Tooltip>
            </div>
          )
        })}
        {wires.length === 0 && holdsValue ? (
          <LiteralInput
            pin={pin}
            kind={kind}
            value={saved?.value}
            onChange={(value) =>
              editor.run(`Set ${pin}`, (now) => setLiteral(now, guid, pin, value), `set ${guid} ${pin}`)
            }
          />
        ) : null}
        {problem === undefined ? null : <ProblemNote message={problem} level="error" />}
        <p className={classes.help}>{kind.help}</p>
      </div>
    </div>
  )
}
