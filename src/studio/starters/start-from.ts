import { notifyAbout, notifyFailed } from '../controls/notify.ts'
import { startTexts } from '../texts/start.ts'
import { type Starter, starterFile } from './starters.ts'

/** Makes a blueprint from a template, saved and not active, and gives its guid; undefined where it could not, and why is said. */
export async function startFrom(
  starter: Starter,
  onProgress: (share: number) => void = () => undefined,
): Promise<string | undefined> {
  try {
    // 14 KB that the first page, which lists the templates, does without.
    const { importBlueprintFile } = await import('../api/blueprint-transfer.ts')
    const { guid } = await importBlueprintFile(await starterFile(starter), {
      onProgress,
      stays: (part) => notifyAbout(startTexts.notAllWasUndone, startTexts.leftOver(part)),
    })
    return guid
  } catch (error) {
    notifyFailed(startTexts.couldNotBeCreated(starter.title), error)
    return undefined
  }
}
