// Barnes-Hut in two dimensions.
use std::env;

struct Cell {
    x: f64,
    y: f64,
    mass: f64,
    size: f64,
    children: Vec<Cell>,
}

fn build(points: Vec<(f64, f64)>, x0: f64, y0: f64, size: f64) -> Cell {
    let mass = points.len() as f64;
    let x = points.iter().map(|p| p.0).sum::<f64>() / mass;
    let y = points.iter().map(|p| p.1).sum::<f64>() / mass;
    let mut children = Vec::new();
    if points.len() > 1 && size > 1e-6 {
        let h = size / 2.0;
        let mut parts: Vec<Vec<(f64, f64)>> = vec![Vec::new(); 4];
        for p in points {
            let i = (p.0 >= x0 + h) as usize + 2 * (p.1 >= y0 + h) as usize;
            parts[i].push(p);
        }
        for (i, part) in parts.into_iter().enumerate() {
            if !part.is_empty() {
                children.push(build(part, x0 + h * (i % 2) as f64, y0 + h * (i / 2) as f64, h));
            }
        }
    }
    Cell { x, y, mass, size, children }
}

fn pull(cell: &Cell, px: f64, py: f64) -> (f64, f64) {
    let (dx, dy) = (cell.x - px, cell.y - py);
    let r2 = dx * dx + dy * dy + 1e-6;
    if cell.children.is_empty() || cell.size * cell.size < 0.25 * r2 {
        let f = cell.mass / (r2 * r2.sqrt());
        return (f * dx, f * dy);
    }
    cell.children.iter().fold((0.0, 0.0), |sum, c| {
        let f = pull(c, px, py);
        (sum.0 + f.0, sum.1 + f.1)
    })
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let (n, steps): (usize, usize) = (args[1].parse().unwrap(), args[2].parse().unwrap());
    let mut points: Vec<(f64, f64)> = (0..n)
        .map(|i| ((i as f64 * 0.6180339887) % 1.0, (i as f64 * 0.7548776662) % 1.0))
        .collect();
    for _ in 0..steps {
        let root = build(points.clone(), 0.0, 0.0, 1.0);
        points = points
            .iter()
            .map(|&(x, y)| {
                let (fx, fy) = pull(&root, x, y);
                ((x + 1e-9 * fx).rem_euclid(1.0), (y + 1e-9 * fy).rem_euclid(1.0))
            })
            .collect();
    }
    println!("{:?}", points[0]);
}
