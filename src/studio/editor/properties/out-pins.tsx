import { Button } from '@mantine/core'
import { useMemo } from 'react'
import type { OutPin } from '../../../shared/api/blocks/blocks.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { linksOf } from '../expressions/references.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow, PinPlace } from '../model/flow.ts'
import { nameOf } from '../model/words/block-names.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './properties.module.css'

/** What the block gives, and where it goes. */
export function OutPins({
  guid,
  pins,
}: {
  readonly guid: string
  readonly pins: ReadonlyMap<string, OutPin>
}) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const wires = useMemo(() => linksOf(flow).filter(({ from }) => from.block === guid), [flow, guid])
  if (pins.size === 0) return null
  return (
    <div className={classes.section}>
      <h2 className={classes.sectionTitle}>{propertiesTexts.out}</h2>
      {[...pins].map(([pin, kind]) => {
        const targets = wires.filter(({ from }) => from.pin === pin)
        return (
          <div key={pin}>
            <div className={classes.pinHead} title={kind.help}>
              <PinMark type={kind.type} full={targets.length > 0} />
              {pin}
              <span className={classes.pinType}>{kind.type}</span>
              <span className={classes.pinActions}>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="gray"
                  aria-label={propertiesTexts.addABlockAfter(pin)}
                  onClick={() =>
                    editor.set({
                      dialog: {
                        kind: 'add',
                        at: placeBehind(flow, guid),
                        wire: { side: 'from', place: { block: guid, pin } },
                      },
                    })
                  }
                >
                  {propertiesTexts.add}
                </Button>
              </span>
            </div>
            {targets.length === 0 ? null : (
              <p className={classes.help}>
                {targets.map(({ to }) => pinWords(flow, catalogue, to)).join(', ')}
              </p>
            )}
          </div>
        )
      })}
    </div>
  )
}

function placeBehind(flow: Flow, guid: string) {
  const { x, y } = flow.get(guid)?.position ?? { x: 0, y: 0 }
  return { x: x + 330, y: y + 58 }
}

function pinWords(flow: Flow, catalogue: Catalogue, { block, pin }: PinPlace): string {
  const content = flow.get(block)
  return content ? `${nameOf(content, catalogue)} · ${pin}` : pin
}
