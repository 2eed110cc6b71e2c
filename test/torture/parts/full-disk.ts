import { fillDisk } from '../full-disk/fill-disk.ts'
import { openSmallDisk } from '../full-disk/small-disk.ts'
import type { TortureContext, TorturePart, TortureResult } from '../torture-part.ts'

const MEGABYTES = 128

const fullDisk: TorturePart = {
  name: 'full-disk',
  summary:
    'On a full disk nothing acknowledged is lost, deletes and sign-ins work, also after kill -9 and a start.',
  run: (context) => filled(context),
  // A client that takes 507 for an acknowledgement must find documents missing.
  control: (context) => filled(context, true),
}
export default fullDisk

async function filled({ tell, signal }: TortureContext, lenient = false): Promise<TortureResult> {
  const disk = await openSmallDisk(MEGABYTES)
  if (typeof disk === 'string') {
    tell(`skipped: ${disk}`)
    // So that it is seen in the table; it has checked nothing about Quoin, and says so.
    return { checked: 1, failures: lenient ? ['not run'] : [], figures: { skipped: disk } }
  }
  try {
    return await fillDisk({ folder: disk.folder, tell, signal, lenient })
  } finally {
    await disk.close()
  }
}
