// What is drawn in several steps, so that no task is long on a slow computer.
import { useEffect, useState } from '../lib/ui.js'

/** 0 when first drawn, then one more in a task of its own each, up to `last`. */
export function useStage(last = 1) {
  const [stage, setStage] = useState(0)
  useEffect(() => {
    if (stage === last) return undefined
    const timer = setTimeout(() => setStage(stage + 1))
    return () => clearTimeout(timer)
  }, [stage])
  return stage
}
